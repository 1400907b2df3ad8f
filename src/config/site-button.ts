import { en } from '../browser/texts/en.js';
import { buttonTextNames } from '../browser/texts/text-names.js';
import type { ConfigSource, SiteButtonOptions } from './config-options.js';

/** How the site presents itself to its visitors. */
export interface SiteButton {
  readonly name: string | undefined;
  /** A path or an https URL. */
  readonly logo: string | undefined;
  readonly help: SiteButtonOptions['help'];
  /** What elements.js contains of it. */
  readonly element: {
    /** The accent, as a rule of a style sheet. */
    readonly css: string | undefined;
    /** The texts of the button itself by language. A language of the site's own has an entry, also an empty one. */
    readonly texts: Texts | undefined;
  };
  /** The other texts by language. */
  readonly dialogTexts: Texts | undefined;
}

type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

const isOfButton = (name: string): boolean => (buttonTextNames as readonly string[]).includes(name);

export function readSiteButton(source: ConfigSource): SiteButton {
  const { name, logo, accent, help, texts } = source.options.button ?? {};
  checkSite(source, name, logo, accent);
  if (help !== undefined && !isPage(help.url)) {
    const fix = "button: { help: { url: '/wallets' } }";
    source.report.problem('button.help', 'Its `url` is neither a path on this site nor an http(s) URL.', fix);
  }
  if (texts !== undefined) checkTexts(source, texts);
  const css =
    accent && `:host{--_accent:var(--intent-accent,${accent});--_on-accent:var(--intent-on-accent,${textOn(accent)})}`;
  const button = {
    name,
    logo,
    help,
    element: { css, texts: textsOf(texts, true) },
    dialogTexts: textsOf(texts, false),
  };
  checkSize(source, button);
  return Object.freeze(button);
}

/** One line without characters that control the text direction: they could reorder the text around it. */
const nameForm = /^[^\p{Cc}\p{Surrogate}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,60}$/u;

const isPath = (text: string): boolean => /^\/(?!\/)[\x21-\x7e]*$/.test(text);
const isPage = (text: unknown): boolean =>
  typeof text === 'string' && (isPath(text) || (/^https?:\/\//.test(text) && URL.canParse(text)));

function checkSite({ report }: ConfigSource, name?: string, logo?: string, accent?: string): void {
  if (name !== undefined && (!nameForm.test(name) || name.trim() === '')) {
    report.problem('button.name', 'It is not one line of 1 to 60 characters.', "button: { name: 'Tea House' }");
  }
  if (logo !== undefined && !isPath(logo) && !(/^https:/.test(logo) && URL.canParse(logo))) {
    report.problem(
      'button.logo',
      'It is neither a path on this site nor an https URL.',
      "button: { logo: '/logo.svg' }",
    );
  }
  if (accent !== undefined && !/^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(accent)) {
    report.problem('button.accent', 'It is not a color of 3 or 6 hexadecimal digits.', "button: { accent: '#1144dd' }");
  }
}

function checkTexts({ report }: ConfigSource, texts: object): void {
  for (const [language, own] of Object.entries(texts)) {
    const setting = `button.texts.${language}`;
    const fix = "button: { texts: { en: { paid: 'Thank you!' } } }";
    if (!/^[a-z]{2,3}$/.test(language)) {
      report.problem(setting, 'It is not a language alone, such as `pt` for `pt-BR`.', fix);
      continue;
    }
    if (typeof own !== 'object' || own === null) {
      report.problem(setting, 'It is not an object with the texts of a language such as `en`.', fix);
      continue;
    }
    report.unknownNames(setting, own, [...buttonTextNames, ...Object.keys(en)]);
    for (const [name, text] of Object.entries(own)) {
      if (typeof text === 'string' && text.trim() !== '' && (name !== 'ask' || text.includes('{user}'))) continue;
      const form = name === 'ask' ? 'a text with {user}, which becomes the id' : 'a text';
      report.problem(`${setting}.${name}`, `It is not ${form}.`, 'Write the text, or remove the entry.');
    }
  }
}

/** The texts of the button itself, or the other ones. Undefined if there are none. */
function textsOf(texts: SiteButtonOptions['texts'], ofButton: boolean): Texts | undefined {
  const all = Object.entries(texts ?? {}).map(([language, own]) => {
    const entries = Object.entries(own ?? {}).filter(([name]) => isOfButton(name) === ofButton);
    return [language, Object.fromEntries(entries)] as const;
  });
  const needed = ofButton ? all : all.filter(([, own]) => Object.keys(own).length > 0);
  return needed.length > 0 ? Object.fromEntries(needed) : undefined;
}

/** In bytes. At this limit the dialog takes at most 14 KB after gzip. */
const maxDialogConfigBytes = 4_500;

function checkSize({ report }: ConfigSource, { name, logo, help, dialogTexts }: SiteButton): void {
  const bytes = Buffer.byteLength(JSON.stringify({ name, logo, help, dialogTexts }));
  if (bytes <= maxDialogConfigBytes) return;
  const problem = `The texts of the dialog take ${bytes} bytes. The limit is ${maxDialogConfigBytes}, because every visitor who pays loads them.`;
  report.problem('button.texts', problem, 'Remove or shorten texts.');
}

/** White or nearly black, whichever has the greater contrast (WCAG 2.2, relative luminance). */
function textOn(accent: string): string {
  const digits = accent.length === 4 ? accent.replace(/[\da-f]/gi, '$&$&') : accent;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  // At this luminance white and #112 have the same contrast.
  return luminance > 0.19 ? '#112' : '#fff';
}
