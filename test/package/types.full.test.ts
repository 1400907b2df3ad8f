import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsumerProject, type Ended, root } from './consumer-project.js';

// Checks every declaration file of the package (`skipLibCheck` is off) in a project with only the dependencies of the package.

let project: ConsumerProject;
const typed = ['typed-site.mts', 'typed-metadata.mts'];

beforeAll(async () => {
  project = await ConsumerProject.create();
  project.write('server.mts', server);
  project.write('client.mts', client);
  project.write('page.mts', page);
  project.write('server.cts', server);
  for (const name of typed) copyFileSync(new URL(name, import.meta.url), join(project.folder, name));
});
afterAll(() => project.remove());

/** Compiles with the options of strict projects and `options`. @returns the output of the compiler */
function compile(
  name: string,
  options: Readonly<Record<string, unknown>>,
  files: string[],
  compiler = 'node_modules/typescript/bin/tsc',
): Promise<Ended> {
  const strict = { strict: true, noEmit: true, skipLibCheck: false, noUncheckedIndexedAccess: true };
  const compilerOptions = { target: 'es2023', ...strict, exactOptionalPropertyTypes: true, ...options };
  project.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, files }));
  return project.node([join(root, compiler), '-p', `tsconfig.${name}.json`]);
}

const fine = { code: 0, stdout: '', stderr: '' };
const ways: [string, Record<string, string>][] = [
  ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext' }],
  ['node16', { module: 'node16', moduleResolution: 'node16' }],
  ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
];

it.each(ways)('every entry compiles with module resolution of %s', async (name, options) => {
  expect(await compile(name.replace(' ', '-'), options, ['server.mts', 'client.mts', 'page.mts'])).toEqual(fine);
});

const compilers = {
  'TypeScript 7': 'node_modules/typescript/bin/tsc',
  'TypeScript 5': 'test/package/typescript-5/node_modules/typescript/bin/tsc',
};
const typedBy = Object.entries(compilers).flatMap(([name, path]) => typed.map((file) => [name, file, path] as const));

it.each(typedBy)('%s compiles %s', async (_name, file, compiler) => {
  const options = { module: 'nodenext', noPropertyAccessFromIndexSignature: true };
  expect(await compile('typed', options, [file], compiler)).toEqual(fine);
});

it('every entry of a server compiles with require', async () => {
  expect(await compile('cts', { module: 'nodenext' }, ['server.cts'])).toEqual(fine);
});

it('the client and the button compile without types of Express', async () => {
  project.unlink('@types/express');
  try {
    expect(await compile('bare', { module: 'nodenext' }, ['client.mts', 'page.mts'])).toEqual(fine);
    // The router needs these types, which proves the check, so they are a peer dependency.
    expect((await compile('bare-server', { module: 'nodenext' }, ['server.mts'])).stdout).toContain('TS7016');
  } finally {
    project.link('@types/express');
  }
});

const server = `
import express from 'express';
import { createServer, type IntentRouter, intentRouter, logOut, requireLogin, requirePayment } from 'express-intents';
import { type Simulator, startSimulator } from 'express-intents/testing';

// The package declares one member of a request. All other names belong to the app.
declare global {
  namespace Express {
    interface Request { payment?: { order: number } }
  }
}

const router: IntentRouter = intentRouter({
  payment: (req) => ({ amount: '1.00', currency: 'usd', metadata: { path: req.path } }),
  onPaid: async (payment, { tx, signal }) => {
    signal.aborted satisfies boolean;
    await tx.query('insert into orders (id) values ($1)', [payment.id]);
  },
  login: { keepSession: ['basket'] },
  onSession: (user, req) => void req.res?.cookie('user', user.id satisfies string),
});
const app = express();
app.use(router);
// Behind a guard its value is not optional.
app.get('/account', requireLogin({ loginUrl: '/login' }), (req, res) => void res.send(req.intent.user.id satisfies string));
app.get('/article', requirePayment((req) => ({ resource: req.path })), (req, res) => {
  res.send(req.intent.payment.amount satisfies string);
});
app.post('/log-out', (req, res, next) => void logOut(req, res).then(() => res.redirect('/'), next));
export const simulator: Promise<Simulator> = startSimulator({ port: 0 });
export const listen = (app: Parameters<typeof createServer>[0]): void => void createServer(app).listen(0);
export default router;
`;

const client = `
import { createIntentClient, IntentError, type IntentStatus } from 'express-intents/client';

const client = createIntentClient({ url: 'https://sequencer.example' });
export async function isPaid(id: string): Promise<boolean> {
  const status: IntentStatus = await client.paymentIntents.getStatus(id, { signal: AbortSignal.timeout(1000) });
  return status.intentSubmitted;
}
export const isOurs = (error: unknown): boolean => error instanceof IntentError && error.code === 'invalid_id';
`;

const page = `
import { elements, type Problem } from 'express-intents/elements';

const { button } = elements.create('button', { mode: 'payment', order: { item: 'tea' } });
button.on('success', ({ intent }) => location.assign(\`/thanks/\${intent}\`));
button.on('error', ({ error }: { error: Problem }) => error.code satisfies string);
button.mount('#pay');
document.querySelector('intent-button')?.update({ clientSecret: 'secret' });
`;
