export { de } from './texts/de.js';
export { es } from './texts/es.js';
export { fr } from './texts/fr.js';
export { ja } from './texts/ja.js';
