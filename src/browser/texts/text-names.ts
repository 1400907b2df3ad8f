import type { Texts } from './en.js';

/** The names of the texts of the button itself, which it needs before the dialog is loaded. */
export const buttonTextNames = ['payment', 'login', 'busy', 'noDialog'] as const;

/** The name of a text that a site can replace. */
export type TextName = (typeof buttonTextNames)[number] | keyof Texts;
