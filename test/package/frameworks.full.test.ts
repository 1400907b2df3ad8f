import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { textOf } from '../docs/guides.js';
import { ConsumerProject, type Ended, root } from './consumer-project.js';

// The types of <intent-button> in React and Vue, and the server in bundles, with the packed package.

const fine = { code: 0, stdout: '', stderr: '' };

let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
  for (const name of ['react', '@types/react', 'vue', 'esbuild', 'vite']) project.link(name);
});
afterAll(() => project.remove());

function write(name: string, text: string): void {
  mkdirSync(dirname(project.path(name)), { recursive: true });
  writeFileSync(project.path(name), text);
}

/** Compiles a folder with the options of strict projects. */
function compile(folder: string, options: object = {}): Promise<Ended> {
  const lib = ['es2023', 'dom'];
  const strict = { strict: true, noEmit: true, skipLibCheck: true, types: [], exactOptionalPropertyTypes: true };
  const compilerOptions = {
    target: 'es2023',
    lib,
    module: 'esnext',
    moduleResolution: 'bundler',
    ...strict,
    ...options,
  };
  write(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['.'] }));
  return project.node([join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false']);
}

test('the attributes, properties and events of the button have types in React', async () => {
  write(
    'react/page.tsx',
    `import { createRef } from 'react';
import type { IntentButtonElement } from 'express-intents/elements';
import { IntentButton } from 'express-intents/react';
const ref = createRef<IntentButtonElement>();
export const right = (
  <IntentButton
    ref={ref} className="pay" mode="payment" order={{ id: 42, qty: 2 }} successUrl="/thanks" cancelUrl="/cart"
    onSuccess={(success) => success.intent.length} onError={({ error }) => error.code} onCancel={({ reason }) => reason}
  >
    Pay
  </IntentButton>
);
ref.current?.update({ clientSecret: '' });
// @ts-expect-error an unknown mode
export const mode = <IntentButton mode="pay" />;
// @ts-expect-error an unknown prop
export const prop = <IntentButton sucess={1} />;
// @ts-expect-error the detail has no such member
export const event = <IntentButton onSuccess={(success) => success.id} />;
`,
  );
  expect(await compile('react', { jsx: 'react-jsx' })).toEqual(fine);
});

test('the attributes, properties and events of the button have types in Vue', async () => {
  const [, declaration = ''] =
    /```ts plain\n(import type[\s\S]*?declare module 'vue'[\s\S]*?)```/.exec(textOf('docs/vue.md')) ?? [];
  write('vue/intent-button.d.ts', declaration);
  write(
    'vue/page.ts',
    `import type { GlobalComponents } from 'vue';
type Props = InstanceType<GlobalComponents['intent-button']>['$props'];
export const right: Props = {
  mode: 'payment', order: { id: 42 }, 'success-url': '/thanks', onSuccess: (event) => event.detail.intent.length,
  onIntentcancel: (event) => event.detail.reason,
};
// @ts-expect-error an unknown mode
export const mode: Props = { mode: 'pay' };
// @ts-expect-error the detail has no such member
export const event: Props = { onSuccess: (event) => event.detail.id };
`,
  );
  expect(declaration).not.toBe('');
  expect(await compile('vue')).toEqual(fine);
});

describe('a server in a bundle', () => {
  const server = `import express from 'express';
import { intentRouter } from 'express-intents';
import { greeting } from './greeting.js';
const app = express();
const router = intentRouter();
app.use(router);
app.get('/', (_req, res) => void res.send(greeting));
await router.ready();
app.listen(0);
`;
  const settings = { INTENT_SEQUENCER_URL: 'simulator', INTENT_SIMULATOR_PORT: '0' };
  /** The commands of the guide. */
  const commands = [...textOf('docs/bundling.md').matchAll(/^npx (esbuild|vite) (.*server\.js.*)$/gm)].map(
    ([, program = '', args = '']) => [program, args.split(' ')] as const,
  );
  beforeAll(() => {
    write('server.js', server);
    write('telemetry.mjs', 'export const sdk = {};');
    write('greeting.js', "export const greeting = 'Hello from the bundle';");
    write('package.json', '{ "private": true, "type": "module" }');
  });

  test('of the guide: there are three', () =>
    expect(commands.map(([program]) => program)).toEqual(['esbuild', 'vite', 'esbuild']));

  test.each(commands)('by %s serves the site and its button', async (program, args) => {
    const path = join(root, 'node_modules/.bin', program);
    await promisify(execFile)(path, args, { cwd: project.folder });
    const site = await project.startSite(['dist/server.js'], settings);
    try {
      expect(await (await fetch(site.origin)).text()).toBe('Hello from the bundle');
      expect(await (await fetch(`${site.origin}/intent/v1/elements.js`)).text()).toMatch(
        /^const intentSite = \{"routes"/,
      );
    } finally {
      site.kill();
    }
  });
});
