/** The texts of the pages that the router sends, in the languages of the button. */
export interface PageTexts {
  readonly login: string;
  readonly loginText: string;
  /** The page has no button. */
  readonly loginElsewhere: string;
  readonly script: string;
  readonly home: string;
  readonly pending: string;
  readonly pendingText: string;
  /** `{id}` becomes the id of the payment. */
  readonly pendingHelp: string;
}

export const pageTexts = {
  en: {
    login: 'Please log in',
    loginText: 'Log in with your wallet to continue.',
    loginElsewhere: 'Log in on this site. Then open this page again.',
    script: 'Turn on JavaScript to log in.',
    home: 'Go to the home page',
    pending: 'Payment in progress',
    pendingText: 'Your payment is being processed. Do not pay again. This page opens when the payment is complete.',
    pendingHelp: 'If this takes more than a few minutes, contact the site and mention payment {id}.',
  },
  de: {
    login: 'Bitte melden Sie sich an',
    loginText: 'Melden Sie sich mit Ihrer Wallet an, um fortzufahren.',
    loginElsewhere: 'Melden Sie sich auf dieser Website an. Öffnen Sie diese Seite danach noch einmal.',
    script: 'Schalten Sie JavaScript ein, um sich anzumelden.',
    home: 'Zur Startseite',
    pending: 'Zahlung wird bearbeitet',
    pendingText:
      'Ihre Zahlung wird bearbeitet. Zahlen Sie nicht noch einmal. Diese Seite öffnet sich, sobald die Zahlung abgeschlossen ist.',
    pendingHelp:
      'Wenn das länger als ein paar Minuten dauert, wenden Sie sich an die Website und nennen Sie die Zahlung {id}.',
  },
  es: {
    login: 'Inicia sesión',
    loginText: 'Entra con tu monedero para continuar.',
    loginElsewhere: 'Inicia sesión en este sitio. Después vuelve a abrir esta página.',
    script: 'Activa JavaScript para iniciar sesión.',
    home: 'Ir a la página de inicio',
    pending: 'Pago en curso',
    pendingText: 'Estamos procesando tu pago. No vuelvas a pagar. Esta página se abrirá cuando el pago se complete.',
    pendingHelp: 'Si tarda más de unos minutos, contacta con el sitio e indica el pago {id}.',
  },
  fr: {
    login: 'Veuillez vous connecter',
    loginText: 'Connectez-vous avec votre portefeuille pour continuer.',
    loginElsewhere: 'Connectez-vous sur ce site. Ouvrez ensuite de nouveau cette page.',
    script: 'Activez JavaScript pour vous connecter.',
    home: 'Aller à la page d’accueil',
    pending: 'Paiement en cours',
    pendingText:
      'Votre paiement est en cours de traitement. Ne payez pas une seconde fois. Cette page s’ouvrira une fois le paiement terminé.',
    pendingHelp: 'Si cela prend plus de quelques minutes, contactez le site en indiquant le paiement {id}.',
  },
  ja: {
    login: 'ログインしてください',
    loginText: '続けるには、ウォレットでログインしてください。',
    loginElsewhere: 'このサイトでログインしてから、このページをもう一度開いてください。',
    script: 'ログインするには JavaScript を有効にしてください。',
    home: 'ホームページへ',
    pending: '支払いを処理しています',
    pendingText: 'お支払いを処理しています。もう一度支払わないでください。支払いが完了すると、このページが開きます。',
    pendingHelp: '数分以上かかる場合は、支払い {id} を伝えてサイトにお問い合わせください。',
  },
} as const satisfies Readonly<Record<string, PageTexts>>;

export type PageLanguage = keyof typeof pageTexts;
