import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { SiteButton } from '../../config/site-button.js';
import { type PageLanguage, type PageTexts, pageTexts } from './page-texts.js';
import { sendBytes } from './respond.js';

/** A page that the router sends to a visitor. */
export interface Page {
  readonly title: string;
  /** The HTML below the title. */
  readonly body: string;
}

/** The colors are those of the dialog of the button (src/browser/dialog/intent-dialog.css). */
const style = `*{box-sizing:border-box}
:root{color-scheme:light dark;--surface:color-mix(in srgb,Canvas 95%,#fff);--ground:color-mix(in srgb,#468 8%,Canvas);
--muted:color-mix(in srgb,CanvasText 66%,Canvas);--line:color-mix(in srgb,CanvasText 12%,#0000)}
body{display:grid;min-height:100vh;min-height:100svh;margin:0;padding:16px;place-items:center;background:var(--ground);
color:CanvasText;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:26rem;padding:36px 28px 28px;border:1px solid var(--line);border-radius:24px;
background:var(--surface);text-align:center}
img{display:block;height:56px;max-width:100%;margin:0 auto 12px;border-radius:12px;object-fit:contain}
h1{margin:0 0 8px;font-size:1.5rem;font-weight:600;line-height:1.25;text-wrap:balance}
p{margin:0 0 20px;text-wrap:pretty}p:last-child{margin:0}
.site{margin:0 0 12px;font-weight:600}.more,a{color:var(--muted);font-size:.875rem}
.more{text-wrap:balance}code{font-size:.75rem}
intent-button{width:100%}`;

/** Sends a page in the language of the visitor, with the name and logo of the site. Its policy is that of the button. */
export function sendPage(
  req: Request,
  res: Response,
  { name, logo }: SiteButton,
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
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name === undefined ? title : `${title} – ${name}`)}</title>
<style>${style}</style>
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
    'Content-Security-Policy': policyFor(logo),
    ...headers,
  });
}

/** The policy of the button (docs/button.md), and the hash of the one inline style. */
function policyFor(logo: string | undefined): string {
  const hash = createHash('sha256').update(style).digest('base64');
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
