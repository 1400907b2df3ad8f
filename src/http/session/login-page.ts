import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { requireRouter } from '../attached-router.js';
import { isOwnPath, isPageView } from '../request/page-view.js';
import { sendBytes } from '../response/respond.js';

const style = 'body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The policy of the button (docs/button.md), and the hash of the one inline style. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  `style-src 'self' ${hashOf(style)}`,
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(';');

/** Responds with 401 and a page on which a person can log in. After the login the requested page opens. */
export function sendLoginPage(req: Request, res: Response): void {
  sendBytes(res, 401, Buffer.from(loginPage(req)), {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy,
  });
}

function loginPage(req: Request): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Please log in</title>
<style>${style}</style>
</head>
<body>
<h1>Please log in</h1>
<p>You must be logged in to continue.</p>
${buttonFor(req) ?? '<p>Log in on this site. Then open this page again.</p>'}
<p><a href="/">Go to the home page</a></p>
</body>
</html>
`;
}

/** Undefined if the site has disabled a route that the button needs. */
function buttonFor(req: Request): string | undefined {
  const { context, baseUrl } = requireRouter(req);
  const { elements, intent, session } = context.config.routes;
  if (!context.sessions || elements === false || intent === false || session === false) return undefined;
  // A form cannot be sent again.
  const target = isPageView(req) && isOwnPath(req.originalUrl) ? req.originalUrl : '/';
  return `<p><intent-button mode="login" success-url="${escapeHtml(target)}"></intent-button></p>
<noscript><p>Turn on JavaScript to log in.</p></noscript>
<script type="module" src="${escapeHtml(`${baseUrl}${elements}/elements.js`)}"></script>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
