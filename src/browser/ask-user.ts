// Loaded when a site asks before it logs somebody in. Nothing but the page is shared with what loads it.

interface Question {
  /** @param user the id, shortened */
  readonly ask: (user: string) => string;
  readonly yes: string;
  readonly no: string;
}

const questions: Readonly<Record<string, Question>> = {
  en: { ask: (user) => `Continue as ${user}?`, yes: 'Continue', no: 'Not me' },
  de: { ask: (user) => `Weiter als ${user}?`, yes: 'Weiter', no: 'Das bin ich nicht' },
  es: { ask: (user) => `¿Continuar como ${user}?`, yes: 'Continuar', no: 'No soy yo' },
  fr: { ask: (user) => `Continuer en tant que ${user}\u00a0?`, yes: 'Continuer', no: 'Ce n’est pas moi' },
  ja: { ask: (user) => `${user} として続けますか？`, yes: '続ける', no: '私ではありません' },
};

/**
 * Asks in the dialog, and in its language, whether to continue as the user that the wallet has named. To close it, by
 * whatever way, is to say no.
 */
export function askUser(dialog: HTMLDialogElement, userId: string): Promise<boolean> {
  const { ask, yes, no } = questions[dialog.lang.split('-')[0] as string] ?? (questions.en as Question);
  const part = (name: string): HTMLElement => dialog.querySelector(`[part=${name}]`) as HTMLElement;
  const [stage, status, go, leave] = [part('stage'), part('status'), part('retry'), part('cancel')];
  const before = [status, go, leave].map(({ textContent }) => textContent);
  const show = (isAsked: boolean, texts: readonly (string | null)[]): void => {
    [status.textContent, go.textContent, leave.textContent] = texts as [string, string, string];
    stage.hidden = isAsked;
    go.hidden = !isAsked;
  };
  show(true, [ask(`${userId.slice(0, 4)}…${userId.slice(-4)}`), yes, no]);
  const answered = new AbortController();
  return new Promise((resolve) => {
    const listen = (target: HTMLElement, event: string, isSo: boolean): void => {
      const answer = (): void => {
        answered.abort();
        show(false, before);
        // Taken out of the page, it was closed by nobody.
        if (dialog.isConnected) resolve(isSo);
      };
      target.addEventListener(event, answer, { signal: answered.signal });
    };
    listen(go, 'click', true);
    // The other button closes it.
    listen(dialog, 'close', false);
  });
}
