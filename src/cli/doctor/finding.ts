/** What a check has found: one line, and under what is not as it should be the one thing that mends it. */
export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly text: string }
  | { readonly level: 'warning' | 'fault'; readonly text: string; readonly mend: string };

export type Level = Finding['level'];

export const ok = (text: string): Finding => ({ level: 'ok', text });
/** Was not looked at, and why. */
export const skipped = (text: string): Finding => ({ level: 'skipped', text });
/** It works, and not as well as it should; or it may be as it is meant. */
export const warning = (text: string, mend: string): Finding => ({ level: 'warning', text, mend });
/** It does not work like this. */
export const fault = (text: string, mend: string): Finding => ({ level: 'fault', text, mend });
