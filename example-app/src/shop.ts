import express, { type ErrorRequestHandler, type Express, type Request, type Response, Router } from 'express';
import { currentUser, type IntentRouter, type IntentRouterOptions, intentRouter, requireLogin } from 'express-intents';
import { findArticle } from './articles.js';
import { OrderBook } from './order-book.js';
import { accountPage } from './pages/account.js';
import { articlePage } from './pages/article.js';
import { homePage } from './pages/home.js';
import { layout, type Page } from './pages/layout.js';
import { loginPage } from './pages/login.js';
import { messagePage } from './pages/message.js';
import { thanksPage } from './pages/thanks.js';
import { paymentStateOf } from './payment-state.js';
import { securityHeaders } from './security-headers.js';
import { showStates } from './show-states.js';
import { staticFiles } from './static-files.js';
import { paymentsOf } from './till.js';
import { visitorCookie, visitorOf } from './visitor-cookie.js';
import { visitorSession } from './visitor-session.js';

export interface ShopOptions {
  /** For the intent router, where the environment is not to decide. */
  readonly intents?: Omit<IntentRouterOptions, 'payment' | 'onCreated'> | undefined;
  /** Whether the wallet is one for trying things out. Default false. */
  readonly isSimulated?: boolean | undefined;
  /** Whether a proxy that ends TLS stands in front. Default false. */
  readonly trustProxy?: boolean | undefined;
}

export interface Shop {
  readonly app: Express;
  readonly router: IntentRouter;
}

/** How many orders the account page shows: each costs a question to the payment service. */
const shownOrders = 12;

/** The whole shop, ready to listen. @throws {ConfigError} when the intent router lacks something */
export function createShop({ intents = {}, isSimulated = false, trustProxy = false }: ShopOptions = {}): Shop {
  const orders = new OrderBook();
  const router = intentRouter({ ...intents, ...paymentsOf(orders) });
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxy ? 1 : false);
  app.use(securityHeaders());
  app.use(staticFiles());
  app.use('/states', showStates());
  app.use(visitorCookie());
  app.use(visitorSession());
  app.use(router);
  app.use(pages(orders, router, isSimulated));
  return { app, router };
}

/** Sends a page; never stored, because every one of them shows who is logged in. */
type Send = (req: Request, res: Response, page: Page, status?: number) => Promise<void>;

function pages(orders: OrderBook, { client }: IntentRouter, isSimulated: boolean): Router {
  const send: Send = async (req, res, page, status = 200) => {
    const user = await currentUser(req);
    const markup = layout(page, { userId: user?.id, isSimulated });
    res.status(status).set('Cache-Control', 'no-store').type('html').send(markup.toString());
  };
  const routes = Router();
  routes.get('/', (req, res) => send(req, res, homePage()));
  routes.get('/articles/:slug', (req, res) => {
    const article = findArticle(req.params.slug);
    return article ? send(req, res, articlePage(article)) : send(req, res, ...notFound);
  });
  routes.get('/login', async (req, res) => {
    if (await currentUser(req)) return res.redirect(303, '/account');
    return send(req, res, loginPage());
  });
  routes.get('/account', requireLogin({ loginUrl: '/login' }), async (req, res) => {
    const { id } = req.intent.user;
    const latest = orders.latestOf(id, shownOrders);
    const checked = latest.map(async (order) => ({ order, state: await paymentStateOf(order.id, client) }));
    return send(req, res, accountPage(id, await Promise.all(checked)));
  });
  routes.get('/thanks/:intent', async (req, res) => {
    const order = orders.get(req.params.intent);
    // Somebody else's order looks like one that is not there.
    if (order?.visitor !== visitorOf(req)) return send(req, res, ...notFound);
    return send(req, res, thanksPage(order, await paymentStateOf(order.id, client)));
  });
  routes.use((req, res) => send(req, res, ...notFound));
  routes.use(answerError(send));
  return routes;
}

const notFound: [Page, number] = [
  messagePage('Nothing on this shelf.', 'There may have been something here once. There is tea elsewhere.'),
  404,
];

const broken = messagePage('We spilled something.', 'It is our fault, and it is being wiped up. Please try again.');

/** Tells the visitor that it went wrong, and only the log what. */
function answerError(send: Send): ErrorRequestHandler {
  return async (error: unknown, req, res, next) => {
    const status = statusOf(error);
    if (status >= 500) console.error(error);
    if (res.headersSent) return next(error);
    const [page] = status < 500 ? notFound : [broken];
    await send(req, res, page, status);
  };
}

/** Express gives errors that are the caller's fault a status, such as 400 for a path that cannot be decoded. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
}
