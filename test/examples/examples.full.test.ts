import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { ConsumerProject, root } from '../package/consumer-project.js';
import { copyEmptyData } from '../support/databases/embedded-template.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { ExampleProject } from './example-project.js';
import { addressesOf, Visitor } from './visitor.js';

// Each example is copied and started by its own `npm start`. Then a visitor pays and logs in.

let home: ConsumerProject;
let project: ExampleProject | undefined;

beforeAll(async () => {
  home = await ConsumerProject.create();
});
afterEach(() => project?.end());
afterAll(() => home.remove());

async function startExample(name: string): Promise<Visitor> {
  project = new ExampleProject(name, home);
  await copyEmptyData(join(project.folder, 'ledger/data'));
  return new Visitor(await addressesOf(await project.start(2)));
}

it('first-site accepts a payment and a login', async () => {
  const visitor = await startExample('first-site');
  expect(await (await visitor.get('/')).text()).toContain("elements.create('button'");
  const id = await visitor.pay('tea');
  await visitor.waitFor(`/thanks/${id}`, /^Paid/);
  expect((await visitor.get('/thanks/unknown')).status).toBe(404);
  expect((await visitor.get('/account')).status).toBe(401);
  const user = await visitor.logIn();
  expect(await (await visitor.get('/account')).text()).toBe(`Hello ${user}`);
});

it('first-site reports a port in use, and ends', async () => {
  const occupied = createServer().listen(0);
  await once(occupied, 'listening');
  const { port } = occupied.address() as AddressInfo;
  project = new ExampleProject('first-site', home);
  await copyEmptyData(join(project.folder, 'ledger/data'));
  const { code, stderr } = await project.run('start', { PORT: String(port), INTENT_SIMULATOR_PORT: '0' });
  occupied.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`listen EADDRINUSE: address already in use \\S*:${port}\nSet another port: PORT=${port + 1}\n`),
  );
  expect(stderr).not.toMatch(/\n\s+at /);
});

it.each(['tested-shop', 'paywall', 'invoices', 'react'])(
  '%s reports why router.ready() has failed, and ends',
  async (name) => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    const { port } = occupied.address() as AddressInfo;
    project = new ExampleProject(name, home);
    await copyEmptyData(join(project.folder, 'ledger/data'));
    const { code, stderr } = await project.run('start', { PORT: '0', INTENT_SIMULATOR_PORT: String(port) });
    occupied.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot listen on port ${port} (it is in use). Set INTENT_SIMULATOR_PORT`);
    expect(stderr).not.toMatch(/\n\s+at /);
  },
);

it.each([
  ['typescript', 'its build compiles'],
  ['commonjs', 'with require, Express 4 and express-session'],
])('%s accepts a payment and a login (%s)', async (name) => {
  const visitor = await startExample(name);
  expect(await (await visitor.get('/')).text()).toContain('Press a button');
  const id = await visitor.pay('cup');
  expect(JSON.parse(await visitor.waitFor(`/orders/${id}`))).toEqual({ article: 'cup' });
  expect((await visitor.get('/account')).status).toBe(401);
  const user = await visitor.logIn();
  expect(await (await visitor.get('/account')).json()).toEqual({ id: user });
});

it('react has valid types, and sells the order of its page', async () => {
  // The package is beside the example, not in its folder as npm installs it.
  home.link('@types/react');
  project = new ExampleProject('react', home);
  expect(await project.run('types')).toEqual({ code: 0, stdout: '', stderr: '' });
  const visitor = await startExample('react');
  const [, script = ''] = /src="(\/assets\/[^"]+)"/.exec(await (await visitor.get('/')).text()) ?? [];
  expect(await (await visitor.get(script)).text()).toContain('attachShadow');
  await visitor.pay({ article: 'tea', quantity: 2 });
  await expect(visitor.pay({ article: 'tea', quantity: 9 })).rejects.toThrow('You can buy one to three.');
});

it('own-login completes a login for the session that created it', async () => {
  const visitor = await startExample('own-login');
  expect(await (await visitor.get('/login.js')).text()).toContain('/wallet-login/complete');
  const created = (await (await visitor.post('/wallet-login', {})).json()) as { client_secret: string };
  await visitor.confirmLogin(created.client_secret);
  const intent = intentIdOf(created.client_secret);
  expect((await visitor.post('/wallet-login/complete', { intent: `${intent}1` })).status).toBe(404);
  const { user } = (await (await visitor.post('/wallet-login/complete', { intent })).json()) as {
    user: { id: string };
  };
  expect(await (await visitor.get('/account')).text()).toBe(`Hello ${user.id}`);
});

it('paywall redirects unpaid visitors to the payment page and admits paid ones', async () => {
  const visitor = await startExample('paywall');
  expect(await (await visitor.get('/')).text()).toContain('href="/articles/tea"');
  expect((await visitor.get('/articles/tea')).status).toBe(402);
  const { status, headers } = await visitor.view('/articles/tea');
  expect([status, headers.get('location')]).toEqual([303, '/buy?return=%2Farticles%2Ftea']);
  expect(await (await visitor.get('/buy?return=/articles/tea')).text()).toContain("get('return')");
  await visitor.pay('/articles/tea');
  expect(await visitor.waitFor('/articles/tea')).toContain('You have paid 0.50 for this.');
  const unknown = await visitor.view('/articles/none');
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  await expect(visitor.pay('/articles/none')).rejects.toThrow('404');
});

it('existing-app starts without a Postgres server', async () => {
  const visitor = await startExample('existing-app');
  expect(await (await visitor.get('/')).text()).toContain('Smoked black tea');
  await visitor.pay('/recipes/chai');
  await visitor.waitFor('/recipes/chai', /Simmer/);
  const user = await visitor.logIn();
  expect(await (await visitor.get('/account')).text()).toContain(user);
});

test('the list of examples names each folder, each has a README, and each site starts with npm', () => {
  const folder = join(root, 'docs/examples');
  const listed = readFileSync(join(folder, 'README.md'), 'utf8').match(/(?<=\()[a-z-]+(?=\/README)/g) ?? [];
  const folders = readdirSync(folder).filter((name) => name !== 'README.md');
  expect(listed.sort()).toEqual(folders);
  expect(folders.filter((name) => !existsSync(join(folder, name, 'README.md')))).toEqual([]);
  for (const name of folders.filter((one) => existsSync(join(folder, one, 'development.env')))) {
    expect(readFileSync(join(folder, name, 'README.md'), 'utf8')).toContain('\nnpm install && npm start\n');
    expect(JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).scripts.start).toMatch(
      /^(?:npm run build && )?node /,
    );
  }
});

it('invoices shows the link of an invoice, and that it is paid', async () => {
  const visitor = await startExample('invoices');
  const page = await visitor.waitFor('/');
  expect(page).toContain('Invoice 42, 120.00 eur: open');
  const [, secret = ''] = /href="[^"#]*#(\w+)"/.exec(page) ?? [];
  await visitor.payCode(secret);
  expect(await visitor.waitFor('/', /paid/)).toContain('Invoice 42, 120.00 eur: paid');
});

it('paywall has a program that buys an article with the simulated wallet', async () => {
  project = new ExampleProject('paywall', home);
  await copyEmptyData(join(project.folder, 'ledger/data'));
  const { site, simulator } = await addressesOf(await project.start(2));
  const ports = { PORT: new URL(site).port, INTENT_SIMULATOR_PORT: new URL(simulator).port };
  expect(await project.run('buy', ports)).toEqual({
    code: 0,
    stdout: '200 Water just off the boil, four minutes. (You have paid 0.50 for this.)\n',
    stderr: '',
  });
});
