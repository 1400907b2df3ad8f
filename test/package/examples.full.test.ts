import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultTraits, faultKindNames, faultKinds } from '../../src/simulator/faults/fault-kinds.js';
import { sequencerOperationNames } from '../../src/simulator/operations/request.js';
import { unpackNpmChromium } from '../browser/support/npm-chromium.js';
import { copyEmptyData } from '../support/databases/embedded-template.js';
import { ConsumerProject, type Ended, root } from './consumer-project.js';

// The examples of docs/testing.md, each run by its test runner in a project that has installed the package.

const examples = 'docs/examples/testing';
const modules = (name: string): string => join(root, 'node_modules', name);
let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
  for (const name of ['supertest', 'jest', 'vitest', '@jest/globals', '@swc/jest', '@playwright/test', 'typescript']) {
    project.link(name);
  }
  for (const types of ['express', 'express-serve-static-core', 'node', 'supertest', 'jest']) {
    project.link(`@types/${types}`);
  }
  project.copy(`${examples}/package.json`, 'package.json');
  // Like every run after the first. newcomer.full.test.ts creates it as a first run does.
  const { version } = JSON.parse(readFileSync(modules('@electric-sql/pglite/package.json'), 'utf8'));
  await copyEmptyData(project.path(`node_modules/.cache/express-intents/empty-ledger-${version}`));
});
afterAll(() => project.remove());

/** Copies an example into the project, with the shop that it tests. */
function place(example: string): void {
  project.copy('docs/examples/tested-shop/app.js', 'app.js');
  project.copy('docs/examples/tested-shop/public', 'public');
  project.copy(`${examples}/${example}`, '.');
}

/** A busy machine needs more than the five seconds that a test has by default. */
const patient = '--testTimeout=120000';

/** Long enough for a busy machine without a template of a ledger. */
const run = (args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  project.node(args, { NO_COLOR: '1', CI: '1', ...environment }, { timeoutMs: 150_000 });

function expectPassed({ code, stdout, stderr }: Ended, tests: RegExp): void {
  expect(`${code}\n${stdout}\n${stderr}`).toMatch(tests);
  expect(code).toBe(0);
}

test('the folder of examples has exactly those that are tested here', () => {
  expect(readdirSync(join(root, examples)).sort()).toEqual([
    'README.md',
    'jest',
    'jest-commonjs',
    'node-test',
    'package.json',
    'playwright',
    'vitest',
  ]);
});

test('the example for jest passes and leaves no handle open', async () => {
  place('jest');
  project.write('jest.config.js', `export default { testEnvironment: 'node', testMatch: ['<rootDir>/shop.test.js'] };`);
  const ended = await run(['--experimental-vm-modules', modules('jest/bin/jest.js'), '--detectOpenHandles', patient]);
  expectPassed(ended, /^Tests: +19 passed, 19 total$/m);
  expect(ended.stderr).not.toMatch(/open handle|did not exit/);
});

test('the example for jest in a CommonJS project passes on any Node without a flag', async () => {
  project.copy(`${examples}/jest-commonjs`, 'commonjs');
  const options = { timeoutMs: 150_000, folder: 'commonjs' };
  const ended = await project.node(
    [modules('jest/bin/jest.js'), '--detectOpenHandles', patient],
    { NO_COLOR: '1' },
    options,
  );
  expectPassed(ended, /^Tests: +2 passed, 2 total$/m);
  expect(ended.stderr).not.toMatch(/open handle|did not exit/);
});

test('the example for vitest passes', async () => {
  place('vitest');
  expectPassed(await run([modules('vitest/vitest.mjs'), 'run', 'shop.test.ts', patient]), /Tests +2 passed \(2\)/);
});

test('the example for node:test passes', async () => {
  place('node-test');
  expectPassed(await run(['--test', '--test-reporter=tap', 'shop.test.js']), /^# pass 2$/m);
});

test('the example for Playwright passes', async () => {
  place('playwright');
  const { executablePath, fontsConf, libraryPath } = await unpackNpmChromium();
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const environment = { FONTCONFIG_FILE: fontsConf, LD_LIBRARY_PATH: libraryPath };
  // Replaces the browser of `npx playwright install`.
  project.write(
    'here.config.ts',
    `import example from './playwright.config.js';
    const env = { ...process.env, ...${JSON.stringify(environment)} };
    const launchOptions = { executablePath: ${JSON.stringify(executablePath)}, args: ${JSON.stringify(args)}, env };
    export default { ...example, use: { ...example.use, launchOptions } };`,
  );
  expectPassed(await run([modules('@playwright/test/cli.js'), 'test', '--config', 'here.config.ts']), /^ +3 passed/m);
});

test('the examples in TypeScript compile', async () => {
  const files = ['vitest/shop.test.ts', 'playwright/shop.spec.ts', 'playwright/playwright.config.ts'];
  for (const folder of ['vitest', 'playwright']) {
    project.copy(`${examples}/${folder}`, folder);
    project.copy('docs/examples/tested-shop/app.js', `${folder}/app.js`);
  }
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, noEmit: true, allowJs: true },
    ...{ noImplicitAny: false, types: ['node'] },
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
  expect(await run([modules('typescript/bin/tsc'), '-p', '.'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe('docs/testing.md, docs/testing-failures.md and docs/test-runners.md', () => {
  const pages = ['testing.md', 'testing-failures.md', 'test-runners.md'];
  const guide = pages.map((page) => readFileSync(join(root, 'docs', page), 'utf8')).join('\n');
  const texts = readdirSync(join(root, 'docs/examples'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  const snippets = [...guide.matchAll(/^```(?:js|ts) plain\n(.*)\n([\s\S]*?)^```$/gm)]
    .map(([, first = '', rest = '']) => [first.trim(), `${first}\n${rest}`] as const)
    // Run by test/docs/own-postgres.full.test.ts.
    .filter(([, snippet]) => !snippet.includes('drop schema'));

  test('have snippets', () => expect(snippets.length).toBeGreaterThan(10));

  // The examples were run above.
  test.each(snippets)('have the snippet that starts with %s from an example', (_first, snippet) => {
    expect(texts.some((text) => linesIn(text).includes(linesIn(snippet)))).toBe(true);
  });

  test('list every fault with its settings, and every operation', () => {
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` \| [^|]+ \|([^|]*)\|$/gm)].map(([, kind, settings = '']) => ({
      kind,
      settings: settings.match(/`(?:when|ms|httpStatus)`(?: \([^)]+\))?/g) ?? [],
    }));
    const expected = faultKindNames.map((kind) => {
      const { when, ms, httpStatus }: FaultTraits = faultKinds[kind];
      const settings = [
        ...(when ? [when === 'before' ? '`when`' : '`when` (`after`)'] : []),
        ...(ms ? [`\`ms\` (${ms})`] : []),
        ...(httpStatus ? [`\`httpStatus\` (${httpStatus})`] : []),
      ];
      return { kind, settings };
    });
    expect(rows.filter(({ kind }) => faultKindNames.some((known) => known === kind))).toEqual(expected);
    for (const operation of sequencerOperationNames) expect(guide).toContain(`\`${operation}\``);
  });
});

/** A text without indentation and blank lines. */
const linesIn = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
