export const en = {
  code: 'QR code for your wallet',
  /** Followed by minutes and seconds. */
  expires: 'Expires in',
  link: 'Open wallet',
  linkHere: 'Open wallet on this device',
  showCode: 'Show code for another device',
  copyLink: 'Copy link',
  copyCode: 'Copy code',
  copied: 'Copied',
  /** Shown with a selected text. */
  copyThis: 'Copy this text:',
  copyInstead: 'This page cannot open your wallet. Copy this link:',
  /** A link for visitors without a wallet, if the site has a page for them. */
  help: 'What is a wallet?',
  close: 'Close',
  retry: 'Try again',
  newCode: 'New code',
  check: 'Check again',
  preparing: 'One moment…',
  waiting: 'Scan this code with your wallet.',
  waitingHere: 'Continue in your wallet.',
  waitingCopy: 'Copy this code into your wallet, or scan it with another device.',
  scanned: 'Confirm in your wallet.',
  completing: 'Logging you in…',
  paid: 'Paid. Thank you!',
  loggedIn: 'Logged in.',
  declined: 'Declined in your wallet.',
  expired: 'The time to pay has run out.',
  checking: 'Checking for a payment…',
  unchecked: 'Could not check for a payment. Select “Check again” before you pay again.',
  keepOpen: 'No payment yet. If you have confirmed in your wallet, keep this page open.',
  unpaid: 'You were not charged.',
  /** Below the button, after the dialog of a scanned payment was closed. */
  payable: 'If you confirm in your wallet, you still pay.',
  offline: 'You are offline. Waiting for a connection…',
  /** If the visitor may have paid. */
  offlineOpen: 'You are offline. If you have paid, keep this page open.',
  noAnswer: 'Connection problem. Still trying…',
  silent: 'Payment service problem. Still trying…',
  failing: 'The site has a problem. Still trying…',
  unreachable: 'Connection problem. Try again in a minute.',
  service: 'Payment service problem. Try again in a minute.',
  refused: 'Not available. Please contact this site.',
  amount: 'This amount cannot be paid here.',
  gone: 'This login has expired. You were not logged in.',
  insecure: 'Open this page with https:// in the address.',
  cookies: 'This browser blocks the cookie of the login here. Open this page in its own tab, or allow cookies.',
  otherwise: 'Something went wrong. Try again in a minute.',
  /** `{user}` becomes the shortened id. A line break begins the explanation. */
  ask: 'Continue as {user}?\nThis is your wallet’s id on this site.',
  yes: 'Continue',
  no: 'Not me',
};

/** The texts of the dialog in one language. */
export type Texts = Readonly<typeof en>;
