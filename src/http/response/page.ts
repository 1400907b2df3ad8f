import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { SiteButton } from '../../config/site.js';
import { type PageLanguage, type PageTexts, pageTexts } from './page-texts.js';
import { sendBytes } from './respond.js';

/** A page that the router sends to a visitor. */
export interface Page {
  readonly title: string;
  /** The HTML below the title. */
  readonly body: string;
}

/** The colors are those of the dialog of the button (src/browser/intent-button.css). */
const style = `*{box-sizing:border-box}
:root{color-scheme:light dark;--surface:#fff;--ground:#f2f4f8;--text:#112;--muted:#567;--link:#14d}
@media (prefers-color-scheme:dark){:root{--surface:#1b1d23;--ground:#101116;--text:#eef;--muted:#aab;--link:#acf}}
body{display:grid;min-height:100vh;margin:0;padding:16px;place-items:center;background:var(--ground);color:var(--text);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:26rem;padding:32px 28px;border-radius:24px;background:var(--surface);text-align:center}
img{display:block;height:56px;max-width:100%;margin:0 auto 12px;object-fit:contain}
h1{margin:0 0 8px;font-size:1.5rem;line-height:1.25;text-wrap:balance}
p{margin:0 0 20px}p:last-child{margin:0}
.site{margin:0 0 12px;color:var(--muted)}.more{color:var(--muted);font-size:.875rem}
a{color:var(--link)}intent-button{width:100%}`;

/** Sends a page in the language of the visitor, with the name, logo and accent of the site. Its policy is that of the button. */
export function sendPage(
  req: Request,
  res: Response,
  { name, logo, accent }: SiteButton,
  {
    status,
    headers,
    write,
  }: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly write: (texts: PageTexts) => Page;
  },
): void {
  const language = (req.acceptsLanguages(Object.keys(pageTexts)) || 'en') as PageLanguage;
  const { title, body } = write(pageTexts[language]);
  const css =
    accent === undefined ? style : `${style}:root{--intent-accent:${accent};--intent-on-accent:${textOn(accent)}}`;
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name === undefined ? title : `${title} – ${name}`)}</title>
<style>${css}</style>
</head>
<body>
<main>
${logo === undefined ? '' : `<img src="${escapeHtml(logo)}" alt="">\n`}${name === undefined ? '' : `<p class="site">${escapeHtml(name)}</p>\n`}<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
  sendBytes(res, status, Buffer.from(html), {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyFor(css, logo),
    ...headers,
  });
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

/** The policy of the button (docs/button.md), and the hash of the one inline style. */
function policyFor(css: string, logo: string | undefined): string {
  const hash = createHash('sha256').update(css).digest('base64');
  const logoOrigin = logo?.startsWith('https:') ? ` ${new URL(logo).origin}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    `style-src 'self' 'sha256-${hash}'`,
    `img-src 'self' data:${logoOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join(';');
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
