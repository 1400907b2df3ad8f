import { domain } from '../support/sites/site.js';
import { begin, buttonScript, clickAndScan, event, part } from './support/checkout.js';
import { startStrictSite } from './support/strict-site.js';
import { useChromium, type Visit } from './support/visit.js';
import { withoutEd25519 } from './support/without-ed25519.js';

const open = useChromium();

/** The paths of the element's scripts that the page loaded. */
const scripts = ({ requests }: Visit): string[] =>
  requests
    .filter((request) => request.resourceType() === 'script')
    .map((request) => new URL(request.url()).pathname)
    .filter((path) => !/^\/(?:pages|record\.js)/.test(path));

test('a page loads elements.js only, and intent-dialog.js at the press', async () => {
  const site = await startStrictSite();
  const visit = await open(site.page({ script: buttonScript() }));
  await part(visit.page, 'button').waitFor();
  await visit.page.waitForLoadState('networkidle');
  expect(scripts(visit)).toEqual(['/intent/v1/elements.js']);
  await site.simulator.wallet('Ada').pay(await begin(visit.page));
  await event(visit.page, 'success');
  expect(scripts(visit)).toEqual([
    '/intent/v1/elements.js',
    expect.stringMatching(/^\/intent\/v1\/intent-dialog\.[\w-]{8}\.js$/),
  ]);
});

const portable = expect.stringMatching(/^\/intent\/v1\/portable-ed25519\.[\w-]{8}\.js$/);

test('a browser without native Ed25519 loads portable-ed25519.js and pays', async () => {
  const site = await startStrictSite();
  const visit = await open(site.page({ script: buttonScript() }), { before: withoutEd25519 });
  await site.simulator.wallet('Ada').pay(await clickAndScan(visit.page));
  await event(visit.page, 'success');
  expect(scripts(visit)).toContainEqual(portable);
});

test('the button works with all routes renamed', async () => {
  const site = await startStrictSite({
    routes: { intent: '/buy', status: '/how', events: '/happenings', elements: '/wallet/files', session: '/who' },
  });
  const elements = '/wallet/files/elements.js';
  const visit = await open(site.page({ script: buttonScript({}, '', elements) }));
  await site.simulator.wallet('Ada').pay(await begin(visit.page));
  await event(visit.page, 'success');
  const login = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }, '', elements) }));
  await site.simulator.wallet('Ben').login(await begin(login.page));
  await event(login.page, 'success');
  const session = await login.page.evaluate(async () => (await fetch('/who')).json());
  expect(session).toEqual({ user: { id: site.simulator.wallet('Ben').userId(domain) } });
});

test('the button works with the router mounted under a path', async () => {
  // Payments only: wallets read the key file at the root, which a mounted router does not serve.
  const site = await startStrictSite({ mountPath: '/shop', login: false });
  const visit = await open(site.page({ script: buttonScript({}, '', '/shop/intent/v1/elements.js') }));
  await site.simulator.wallet('Ada').pay(await begin(visit.page));
  await event(visit.page, 'success');
  const paths = visit.requests.map((request) => new URL(request.url()).pathname);
  expect(paths).toContain('/shop/intent');
  expect(paths).not.toContain('/intent');
});
