import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as api from 'express-intents';
import { ConsumerProject, manifest, root } from '../package/consumer-project.js';
import { type Block, blocksOf, guides, textOf } from './guides.js';

// Each block of a guide is one of these:
//   ```ts, ```js, ```html     compiled against the packed package
//   ```js file=docs/examples/x/app.js    the text of that file, whose example another test runs
//   ```js part=docs/examples/x/app.js    lines of that file
//   ```json                   parsed
//   ```sh                     its programs, scripts, packages and commands exist
//   ```, ```text, ```ts plain    for reading only

const blocks = guides.flatMap((guide) => blocksOf(guide));

const isPlain = ({ info }: Block): boolean => info === '' || info === 'text' || / plain$/.test(info);
const fileOf = ({ info }: Block): string | undefined => / file=(\S+)$/.exec(info)?.[1];
const partOf = ({ info }: Block): string | undefined => / part=(\S+)$/.exec(info)?.[1];
const languageOf = ({ info }: Block): string => info.split(' ')[0] ?? '';
const at = ({ guide, line }: Block): string => `${guide}:${line}`;
const checked = blocks.filter((block) => !isPlain(block) && !fileOf(block) && !partOf(block));
const ofLanguage = (...languages: string[]): Block[] =>
  checked.filter((block) => languages.includes(languageOf(block)));

test('every block of a guide has a checked language or is marked as plain', () => {
  const known = ['ts', 'js', 'html', 'json', 'sh'];
  expect(checked.filter((block) => !known.includes(block.info)).map((block) => `${at(block)} ${block.info}`)).toEqual(
    [],
  );
  expect(checked.length).toBeGreaterThan(30);
});

test('a block with a file name is that file', () => {
  const shown = blocks.filter((block) => fileOf(block) !== undefined);
  expect(shown.length).toBeGreaterThan(3);
  for (const block of shown) {
    const path = join(root, fileOf(block) ?? '');
    expect([at(block), block.text]).toEqual([
      at(block),
      existsSync(path) ? readFileSync(path, 'utf8') : 'no such file',
    ]);
  }
});

test('a block with a part of a file has lines of that file', () => {
  const shown = blocks.filter((block) => partOf(block) !== undefined);
  expect(shown.length).toBeGreaterThan(2);
  const missing = shown.filter((block) => {
    const path = join(root, partOf(block) ?? '');
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(block.text);
  });
  expect(missing.map(at)).toEqual([]);
});

test('JSON blocks are valid', () => {
  for (const { text } of ofLanguage('json')) JSON.parse(text);
});

describe('code blocks', () => {
  let project: ConsumerProject;

  beforeAll(async () => {
    project = await ConsumerProject.create();
    for (const name of [...typesNeeded, ...packagesShown]) project.link(name);
    project.write('around.mts', around);
  });
  afterAll(() => project.remove());

  /** Compiles files. Errors have the line numbers of the guides. */
  async function compile(files: Readonly<Record<string, string>>): Promise<string> {
    for (const [name, text] of Object.entries(files)) project.write(name, text);
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2023', strict: true, noEmit: true, allowJs: true, checkJs: true },
      ...{
        types: ['node', 'jest'],
        skipLibCheck: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
      },
    };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['around.mts', ...Object.keys(files)] }));
    return (await project.node([join(root, 'node_modules/typescript/bin/tsc'), '-p', '.', '--pretty', 'false'])).stdout;
  }

  it('compile with the types of the packed package', async () => {
    const code = ofLanguage('ts', 'js', 'html').flatMap(sourcesOf);
    expect(code.length).toBeGreaterThan(20);
    expect(await compile(Object.fromEntries(code))).toBe('');
  });

  it('are checked: an error is reported with its line', async () => {
    const block = {
      guide: 'docs/made-up.md',
      line: 40,
      info: 'ts',
      text: "\nintentRouter({ domian: 'example.com' });\n",
    };
    expect(await compile(Object.fromEntries(sourcesOf(block)))).toContain('docs-made-up.md-40.mts(41,');
  });
});

/** The files of a block. Code without imports is wrapped in a function, with the names of `around` in scope. */
function sourcesOf({ guide, line, info, text }: Block): [name: string, text: string][] {
  const name = `${guide.replaceAll('/', '-')}-${line}`;
  if (info === 'html') {
    const scripts = [...text.matchAll(/<script type="module">\n([\s\S]*?)<\/script>/g)];
    return scripts.map(([whole, script = ''], n) => {
      const before = text.slice(0, text.indexOf(whole)).split('\n').length;
      const source = script.replaceAll("'/intent/v1/elements.js'", "'express-intents/elements'");
      return [`${name}-${n}.mts`, `${'\n'.repeat(line + before - 1)}${source}`];
    });
  }
  if (/^import /m.test(text)) return [[`${name}.m${info}`, '\n'.repeat(line - 1) + text]];
  if (info === 'js') return [[`${name}.cjs`, '\n'.repeat(line - 1) + text]];
  const wrapped = `export const snippet = async (): Promise<void> => {\n${text}};\n`;
  return [[`${name}.mts`, '\n'.repeat(line - 2) + wrapped]];
}

const typesNeeded = [
  '@types/node',
  '@types/jest',
  '@types/express-session',
  '@types/cookie-session',
  '@types/passport',
];
const packagesShown = ['express-session', 'cookie-session', 'passport', 'pino', 'supertest', '@types/supertest'];

/** Names that a guide uses without declaring them. */
const around = `
import type * as api from 'express-intents';
import type { Simulator, Wallet } from 'express-intents/testing';
import type { Express } from 'express';
declare global {
${Object.keys(api)
  .map((name) => `  const ${name}: typeof api.${name};`)
  .join('\n')}
  const app: Express;
  const router: api.IntentRouter;
  const simulator: Simulator;
  const server: import('node:http').Server;
  const wallet: Wallet;
  const id: string;
  const orders: { find(order: unknown): Promise<{ id: string; total: string }> };
  const prices: ReadonlyMap<string, string>;
  const db: { query(sql: string, values: unknown[]): Promise<unknown> };
  const mailer: { send(mail: object): Promise<void> };
}
`;

describe('shell blocks', () => {
  const examples = readdirSync(join(root, 'docs/examples'));
  const scripts = new Set([
    ...Object.keys(manifest.scripts),
    ...examples.flatMap((name) => {
      const path = join(root, 'docs/examples', name, 'package.json');
      return existsSync(path) ? Object.keys(JSON.parse(readFileSync(path, 'utf8')).scripts ?? {}) : [];
    }),
  ]);
  const { dependencies, peerDependencies, devDependencies } = manifest;
  const packages = new Set([
    'express-intents',
    ...Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies }),
  ]);
  const programs = /^(?:npm|npx|node|mkdir|cd|cp|for|done|echo|curl|wc|docker|systemctl|\.\/\w+)$/;
  let help: string;

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'dist/cli.js'), '--help']);
    help = stdout;
  });

  function problemsOf(text: string): string[] {
    const lines = text
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim());
    const commands = lines.flatMap((line) => line.split(/ (?:&&|\|) /)).filter((command) => command !== '');
    return commands.flatMap((command) => {
      const [program = '', ...args] = command.replace(/^(?:[A-Z_]+=\S* ?)+/, '').split(/\s+/);
      if (program === '') return [];
      const words = args.filter((arg) => !arg.startsWith('-'));
      if (!programs.test(program)) return [`no such program: ${program}: ${command}`];
      if (program === 'npm' && words[0] === 'run' && !scripts.has(words[1] ?? ''))
        return [`no such script: ${command}`];
      if (program === 'npm' && /^(?:install|i)$/.test(words[0] ?? '')) {
        const folder = args[args.indexOf('--prefix') + 1];
        return words
          .slice(1)
          .filter((name) => name !== folder && !name.endsWith('.tgz'))
          .filter((name) => !packages.has(name.replace(/(.)@.*$/, '$1')))
          .map((name) => `no such package: ${name}`);
      }
      if (
        program === 'npx' &&
        words[0] === 'express-intents' &&
        words[1] &&
        !new RegExp(`^  ${words[1]}\\b`, 'm').test(help)
      ) {
        return [`no such command: ${command}`];
      }
      return [];
    });
  }

  it('use existing programs, scripts, packages and commands', () => {
    expect(
      ofLanguage('sh').flatMap((block) => problemsOf(block.text).map((problem) => `${at(block)} ${problem}`)),
    ).toEqual([]);
  });
});

test('every variable in a guide is read by the sources', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const known = new Set(sources.flatMap((name) => variablesIn(readFileSync(join(root, 'src', name), 'utf8'))));
  const named = guides.flatMap((guide) => variablesIn(textOf(guide)).map((name) => ({ guide, name })));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
});

const variablesIn = (text: string): string[] => text.match(/\bINTENT_[A-Z_]*[A-Z]\b/g) ?? [];
