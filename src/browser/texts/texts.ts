import { de } from './de.js';
import { en, type Texts } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { ja } from './ja.js';
import { languageOf } from './locale.js';

const textsByLanguage: Readonly<Record<string, Texts>> = { en, de, es, fr, ja };

/** The texts of the dialog in the language of a supported tag. */
export const textsOf = (tag: string): Texts => textsByLanguage[languageOf(tag)] ?? en;
