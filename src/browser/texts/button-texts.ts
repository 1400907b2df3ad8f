import { siteConfig } from '../site-config.js';
import { tryOrUndefined } from '../validation.js';
import { languageOf } from './language-of.js';

/** The texts of the button itself, available before the dialog is loaded. */
export interface ButtonTexts {
  readonly payment: string;
  readonly login: string;
  /** For screen readers, while the button shows a spinner. */
  readonly busy: string;
  /** The dialog could not be loaded. */
  readonly noDialog: string;
}

export const buttonTexts: Readonly<Record<string, ButtonTexts>> = {
  en: {
    payment: 'Pay with your wallet',
    login: 'Log in with your wallet',
    busy: 'One moment…',
    noDialog: 'Connection problem. Try again, or reload this page.',
  },
  de: {
    payment: 'Mit Wallet bezahlen',
    login: 'Mit Wallet anmelden',
    busy: 'Einen Moment …',
    noDialog: 'Verbindungsproblem. Versuchen Sie es noch einmal, oder laden Sie diese Seite neu.',
  },
  es: {
    payment: 'Pagar con tu monedero',
    login: 'Entrar con tu monedero',
    busy: 'Un momento…',
    noDialog: 'Problema de conexión. Vuelve a intentarlo o recarga esta página.',
  },
  fr: {
    payment: 'Payer avec votre portefeuille',
    login: 'Se connecter avec votre portefeuille',
    busy: 'Un instant…',
    noDialog: 'Problème de connexion. Réessayez ou rechargez cette page.',
  },
  ja: {
    payment: 'ウォレットで支払う',
    login: 'ウォレットでログイン',
    busy: '少々お待ちください…',
    noDialog: '接続に問題があります。もう一度試すか、ページを再読み込みしてください。',
  },
};

/** The texts of the button in the language of a supported tag. */
export function buttonTextsOf(tag: string): ButtonTexts {
  const language = languageOf(tag);
  return { ...(buttonTexts[language] ?? buttonTexts.en), ...siteConfig.texts?.[language] } as ButtonTexts;
}

/** The first of the wanted locales whose language has texts, else English. */
export function negotiateTag(wanted: readonly (string | null | undefined)[]): string {
  const known = { ...buttonTexts, ...siteConfig.texts };
  return wanted.map(canonicalTag).find((tag) => tag && Object.hasOwn(known, languageOf(tag))) ?? 'en';
}

const canonicalTag = (text: string | null | undefined): string | undefined =>
  tryOrUndefined(() => `${new Intl.Locale(text ?? '')}`);
