// Loaded on demand, when a site confirms the user before the login. It shares only the page with elements.js.

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
 * Shows the question in the open dialog: continue as the user of the wallet?
 * @returns false if the visitor closes the dialog; never resolves if the dialog leaves the page
 */
export function askUser(dialog: HTMLDialogElement, userId: string): Promise<boolean> {
  const { ask, yes, no } = questions[dialog.lang.split('-')[0] as string] ?? (questions.en as Question);
  const part = (name: string): HTMLElement => dialog.querySelector(`[part=${name}]`) as HTMLElement;
  const [stage, status, accept, decline] = [part('stage'), part('status'), part('retry'), part('cancel')];
  const before = [status, accept, decline].map(({ textContent }) => textContent);
  const show = (isAsking: boolean, texts: readonly (string | null)[]): void => {
    [status.textContent, accept.textContent, decline.textContent] = texts as [string, string, string];
    stage.hidden = isAsking;
    accept.hidden = !isAsking;
  };
  show(true, [ask(`${userId.slice(0, 4)}…${userId.slice(-4)}`), yes, no]);
  const answered = new AbortController();
  return new Promise((resolve) => {
    const listen = (target: HTMLElement, event: string, isAccepted: boolean): void => {
      const answer = (): void => {
        answered.abort();
        show(false, before);
        if (dialog.isConnected) resolve(isAccepted);
      };
      target.addEventListener(event, answer, { signal: answered.signal });
    };
    listen(accept, 'click', true);
    // The decline button closes the dialog.
    listen(dialog, 'close', false);
  });
}
