import type { Route } from 'playwright-core';
import type { Open, Visit, VisitOptions } from './visit.js';

/** An answer to `POST /intent`. */
export type Answer = (route: Route) => Promise<void>;

export const status =
  (code: number, problem: object = {}): Answer =>
  (route) =>
    route.fulfill({ status: code, json: problem });

export const noAnswer: Answer = (route) => route.abort();

/** The page of a load balancer that cannot reach the server. */
export const balancerPage = (code = 502): Answer => {
  return (route) => route.fulfill({ status: code, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' });
};

export const cutShort: Answer = (route) =>
  route.fulfill({ status: 201, contentType: 'application/json', body: '{"client_s' });

/** The request takes effect and its answer is lost. */
export const lost: Answer = async (route) => {
  await route.fetch();
  await route.abort();
};

/** The answer of the site. */
export const own: Answer = (route) => route.continue();

/** A visit whose first requests `POST /intent` get these answers. Later ones reach the site. */
export async function visitWith(
  open: Open,
  address: string,
  answers: readonly Answer[],
  options?: VisitOptions,
): Promise<Visit> {
  const visit = await open(address, options);
  visit.forgive(/status of [45]\d\d/, /ERR_FAILED/);
  const rest = [...answers];
  await visit.page.route('**/intent', (route) => (rest.shift() ?? own)(route));
  return visit;
}

/** The idempotency keys of the requests `POST /intent` so far, in order. */
export const keysOf = ({ requests }: Visit): (string | undefined)[] =>
  requests
    .filter((request) => request.method() === 'POST' && new URL(request.url()).pathname === '/intent')
    .map((request) => request.headers()['idempotency-key']);
