import type { Request, Response } from 'express';
import { requireRouter } from '../attached-router.js';
import { isOwnPath, isPageView } from '../request/page-view.js';
import { escapeHtml, sendPage } from '../response/page.js';
import type { PageTexts } from '../response/page-texts.js';

/** Responds with 401 and a page on which a person can log in. After the login the requested page opens. */
export function sendLoginPage(req: Request, res: Response): void {
  sendPage(req, res, requireRouter(req).context.config.button, {
    status: 401,
    write: (texts) => ({
      title: texts.login,
      body: `${buttonFor(req, texts) ?? `<p>${texts.loginElsewhere}</p>`}\n<p><a href="/">${texts.home}</a></p>`,
    }),
  });
}

/** Undefined if the site has disabled a route that the button needs. */
function buttonFor(req: Request, { loginText, script }: PageTexts): string | undefined {
  const { context, baseUrl } = requireRouter(req);
  const { elements, intent, session } = context.config.routes;
  if (!context.sessions || elements === false || intent === false || session === false) return undefined;
  // A form cannot be sent again.
  const target = isPageView(req) && isOwnPath(req.originalUrl) ? req.originalUrl : '/';
  return `<p>${loginText}</p>
<p><intent-button mode="login" success-url="${escapeHtml(target)}"></intent-button></p>
<noscript><p>${script}</p></noscript>
<script type="module" src="${escapeHtml(`${baseUrl}${elements}/elements.js`)}"></script>`;
}
