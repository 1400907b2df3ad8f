import { type ErrorRequestHandler, type Request, type Response, Router } from 'express';
import { currentUser, type IntentRouter, requireLogin } from 'express-intents';
import { findArticle } from './articles.js';
import { findOrder, latestOrdersOf } from './orders.js';
import { accountPage } from './pages/account.js';
import { articlePage } from './pages/article.js';
import { homePage } from './pages/home.js';
import { layout, type Page } from './pages/layout.js';
import { loginPage } from './pages/login.js';
import { brokenPage, notFoundPage } from './pages/message.js';
import { thanksPage } from './pages/thanks.js';
import { visitorOf } from './visitor-session.js';

/** Sends a page. No cache stores it, because each page shows whether a user is logged in. */
type Send = (req: Request, res: Response, page: Page, status?: number) => Promise<void>;

/** How many orders the account page shows. */
const shownOrders = 12;

/** All pages. */
export function pageRoutes({ intents, database }: IntentRouter, isSimulated: boolean): Router {
  const send: Send = async (req, res, page, status = 200) => {
    const user = await currentUser(req);
    const markup = layout(page, { userId: user?.id, isSimulated });
    res.status(status).set('Cache-Control', 'no-store').type('html').send(markup.toString());
  };
  const notFound = (req: Request, res: Response) => send(req, res, notFoundPage, 404);
  const routes = Router();
  routes.get('/', (req, res) => send(req, res, homePage()));
  routes.get('/articles/:slug', (req, res) => {
    const article = findArticle(req.params.slug);
    return article ? send(req, res, articlePage(article)) : notFound(req, res);
  });
  routes.get('/thanks/:intent', async (req, res) => {
    const intent = await intents.find(req.params.intent);
    if (intent?.kind !== 'payment') return notFound(req, res);
    const article = findArticle(intent.metadata.article);
    // The purchase of another visitor is answered like an unknown one.
    if (!article || intent.metadata.visitor !== visitorOf(req)) return notFound(req, res);
    return send(req, res, thanksPage({ intent, article, order: await findOrder(intent.id, database) }));
  });
  routes.get('/login', async (req, res) => {
    if (await currentUser(req)) return res.redirect(303, '/account');
    return send(req, res, loginPage());
  });
  routes.get('/account', requireLogin({ loginUrl: '/login' }), async (req, res) => {
    const { id } = req.intent.user;
    return send(req, res, accountPage(id, await latestOrdersOf(id, shownOrders, database)));
  });
  routes.use(notFound);
  routes.use(answerError(send));
  return routes;
}

/** Logs the error and shows an error page. */
function answerError(send: Send): ErrorRequestHandler {
  return async (error: unknown, req, res, next) => {
    const status = statusOf(error);
    if (status >= 500) console.error(error);
    if (res.headersSent) return next(error);
    await send(req, res, status < 500 ? notFoundPage : brokenPage, status);
  };
}

/** Express sets the status of client errors, such as 400 for a path that cannot be decoded. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}
