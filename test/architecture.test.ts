import path from 'node:path';
import {
  computedImport,
  type Import,
  importsOf,
  readSources,
  resolveImport,
  type SourceFile,
} from './support/source-files.mjs';

// Import rules between the folders of src/, and other rules that the linter cannot check. Each rule must find the faults
// planted below. `biome.json` has the other rules, which linter.test.ts tests.

/** router/ and the files directly in src/ that are not a layer compose the others, and may import all of them. */
const composition = 'the composition';

/** The folders, or files in src/, that each folder may import in addition to itself. `type:` allows types only. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  'reject-unknown': ['errors'],
  'package-file': [],
  printable: [],
  'caller-stack': ['errors'],
  'describe-error': ['errors'],
  async: ['errors'],
  net: [],
  keys: ['errors'],
  wire: ['errors'],
  intents: ['wire', 'keys', 'errors'],
  sequencer: ['wire', 'keys', 'intents', 'errors'],
  telemetry: ['errors'],
  ledger: ['type:intents', 'errors', 'type:telemetry'],
  config: ['browser', 'keys', 'errors', 'type:wire', 'type:intents', 'type:sequencer', 'type:ledger', 'type:http'],
  http: ['errors', 'keys', 'intents', 'sequencer', 'ledger', 'config', 'type:telemetry'],
  simulator: ['wire', 'keys', 'intents', 'errors', 'type:ledger', `type:${composition}`],
  testing: ['simulator', 'ledger', 'errors'],
  browser: ['intents'],
};
/** Leaves that every folder except the browser may import. */
const leaves = ['async', 'net', 'reject-unknown', 'describe-error', 'package-file', 'printable', 'caller-stack'];
/** Packages that only some folders may import. */
const packageHomes: readonly { names: readonly string[]; homes: readonly string[]; typesFor: readonly string[] }[] = [
  { names: ['protobufjs', 'long'], homes: ['wire'], typesFor: [] },
  { names: ['express'], homes: ['http', 'simulator'], typesFor: [composition] },
  { names: ['@grpc/grpc-js'], homes: ['wire'], typesFor: ['sequencer', 'simulator'] },
  { names: ['pg', '@electric-sql/pglite'], homes: ['ledger'], typesFor: [] },
  { names: ['@opentelemetry/api'], homes: ['telemetry'], typesFor: [] },
];

const isRelative = ({ specifier }: Import): boolean => specifier.startsWith('.');

/** The layer of a file: its folder. A file directly in src/ is its own layer, or part of the composition. */
function layerOf(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0) return first === 'router' ? composition : first;
  const own = first.replace(/\.ts$/, '');
  return own in allowedImports ? own : composition;
}

type Checker = (files: readonly SourceFile[]) => string[];

/** A checker that returns the fault of one import, if any. */
const eachImport =
  (faultOf: (imported: Import, file: SourceFile) => string | undefined): Checker =>
  (files) =>
    files.flatMap((file) =>
      importsOf(file).flatMap((imported) => {
        const fault = faultOf(imported, file);
        return fault === undefined ? [] : [`${file.name} imports ${imported.specifier}: ${fault}`];
      }),
    );

const layers = eachImport((imported, file) => {
  const [from, to] = [layerOf(file.name), layerOf(resolveImport(file.name, imported.specifier))];
  if (!isRelative(imported) || from === 'cli' || from === to) return undefined;
  if (to === 'cli') return 'nothing imports cli';
  if (from === composition) return undefined;
  const allowed = allowedImports[from];
  if (!allowed) return `the folder ${from} has no rule`;
  if (allowed.includes(to) || (imported.how === 'type' && allowed.includes(`type:${to}`))) return undefined;
  if (leaves.includes(to) && !['browser', 'errors', ...leaves].includes(from)) return undefined;
  return `${from} may import ${allowed.join(', ') || 'nothing'}`;
});

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

const packages = eachImport(({ specifier, how }, { name }) => {
  const rule = packageHomes.find(({ names }) => names.includes(packageOf(specifier)));
  const layer = layerOf(name);
  if (!rule || rule.homes.includes(layer) || (how === 'type' && rule.typesFor.includes(layer))) return undefined;
  return `only ${rule.homes.join(' and ')} may`;
});

// It imports the same file again, under an address that the browser does not remember as failed.
const computed = eachImport(({ specifier }, { name }) =>
  specifier === computedImport && name !== 'browser/flow/on-demand-files.ts'
    ? 'write the specifier as a string literal'
    : undefined,
);

/** The files that an entry loads by static imports of values. */
function loadedWith(entry: string, files: readonly SourceFile[]): Set<string> {
  const byName = new Map(files.map((file) => [file.name, file]));
  const loaded = new Set([entry]);
  for (const name of loaded) {
    const file = byName.get(name) ?? { name, text: '' };
    const imports = importsOf(file).filter((imported) => isRelative(imported) && imported.how === 'static');
    for (const { specifier } of imports) loaded.add(resolveImport(name, specifier));
  }
  return loaded;
}

const productionWithoutSimulator: Checker = (files) =>
  ['index.ts', 'client.ts'].flatMap((entry) =>
    [...loadedWith(entry, files)]
      .filter((name) => ['simulator', 'testing', 'cli'].includes(layerOf(name)) || name === 'testing.ts')
      .map((name) => `${entry} loads ${name}`),
  );

const dumpingGround = /(?:^|-)(?:utils?|helpers?|managers?)$|^(?:types?|commons?|misc)$/;

/** The linter checks the case of the names of files, not that of folders. */
const names: Checker = (files) =>
  files.flatMap(({ name }) => {
    const folders = path.posix.dirname(name).split('/');
    const wrongFolders = folders.filter((folder) => folder !== '.' && !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(folder));
    const parts = [...folders, path.posix.basename(name).replace(/\..*$/, '')];
    return [...wrongFolders, ...parts.filter((part) => dumpingGround.test(part))].map((part) => `${name}: ${part}`);
  });

/** Re-exports are left out: they name the same thing. So are the scripts of the simulator's pages, which are not TypeScript. */
const exportedNames = ({ name: file, text }: SourceFile): ReadonlySet<string> => {
  if (!file.endsWith('.ts')) return new Set();
  const imported = [...text.matchAll(/^import \{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
  const isImported = (name: string): boolean => imported.some((one) => one.trim() === name);
  const declared =
    /^export (?:declare |default |async |abstract )*(?:type|interface|class|function\*?|const|let|enum) (\w+)/gm;
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\};/gm)].flatMap(([, names = '']) => names.split(','));
  const namesOf = listed
    .map((name) => name.trim().split(/\s+/).at(-1) ?? '')
    .filter((name) => name && !isImported(name));
  return new Set([...[...text.matchAll(declared)].map(([, name = '']) => name), ...namesOf]);
};

const sharedNames: Checker = (files) => {
  const homes = new Map<string, string>();
  return files.flatMap((file) =>
    [...exportedNames(file)].flatMap((name) => {
      const home = homes.get(name);
      homes.set(name, file.name);
      return home === undefined ? [] : [`${name} is exported by ${home} and ${file.name}`];
    }),
  );
};

interface Rule {
  readonly title: string;
  readonly check: Checker;
  /** `file: text`; several files are separated by `|`. Each line has one fault. */
  readonly faulty: readonly string[];
  /** Correct code that resembles a fault. */
  readonly correct: readonly string[];
}

const rules: readonly Rule[] = [
  {
    title: 'each folder imports only the folders that it may',
    check: layers,
    faulty: [
      `errors.ts: import { x } from './keys/base58.js';`,
      `keys/a.ts: import { x } from '../wire/codec.js';`,
      `keys/a.ts: const x = require('../wire/codec.js');`,
      `wire/a.ts: export { x } from '../keys/base58.js';`,
      `intents/a.ts: const x = await import('../http/router.js');`,
      `ledger/a.ts: import { type X } from '../intents/money.js';`,
      `http/a.ts: type X = import('../simulator/server.js').X;`,
      `http/deep/a.ts: import { x } from '../../simulator/server.js';`,
      `simulator/a.ts: import { x } from '../sequencer/transport.js';`,
      `browser/a.ts: import { x } from '../async/backoff.js';`,
      `index.ts: import { x } from './cli/main.js';`,
      `novelty/a.ts: import { x } from '../errors.js';`,
    ],
    correct: [
      `keys/a.ts: import { x } from '../errors.js'; import { y } from './base58.js'; import z from 'bs58';`,
      `keys/b.ts: // import { x } from '../wire/codec.js';\nconst text = "import('../wire/codec.js')";`,
      `ledger/a.ts: import type { X } from '../intents/money.js'; import { y } from '../async/backoff.js';`,
      `config/a.ts: import type { X } from '../http/router.js'; import { y } from '../keys/key-ring.js';`,
      `http/a.ts: import type { X } from '../telemetry/router-observer.js'; import { y } from '../net/url.js';`,
      `router/a.ts: import { x } from '../http/router.js'; await import('../simulator/index.js');`,
      `cli/a.ts: import { x } from '../simulator/server.js'; import { y } from '../index.js';`,
    ],
  },
  {
    title: 'a restricted package is imported only by its folders',
    check: packages,
    faulty: [
      `intents/a.ts: import Long from 'long';`,
      `sequencer/a.ts: import type { Request } from 'express';`,
      `simulator/a.ts: const grpc = await import('@grpc/grpc-js');`,
      `index.ts: import express from 'express';`,
      `cli/a.ts: const { PGlite } = await import('@electric-sql/pglite');`,
    ],
    correct: [
      `wire/a.ts: import Long from 'long'; import $protobuf from 'protobufjs/minimal.js'; import('@grpc/grpc-js');`,
      `sequencer/a.ts: import type { Client } from '@grpc/grpc-js'; import session from 'express-session';`,
      `simulator/a.ts: import express from 'express';`,
      `index.ts: import type { RequestHandler } from 'express';`,
    ],
  },
  {
    title: 'no import is computed',
    check: computed,
    faulty: [`http/a.ts: const name = './b.js'; await import(name);`, `http/a.ts: await import('./' + a + '.js');`],
    correct: [`http/a.ts: await import('./b.js');`],
  },
  {
    title: 'index.ts and client.ts load neither simulator/ nor testing/ nor cli/',
    check: productionWithoutSimulator,
    faulty: [
      `index.ts: import './a.js'; | a.ts: export { x } from './simulator/server.js';`,
      `index.ts: import { type X } from './simulator/index.js';`,
      `client.ts: import './testing/advance-time.js';`,
    ],
    correct: [
      `index.ts: import './a.js'; import type { X } from './simulator/b.js'; | a.ts: import('./simulator/b.js');`,
    ],
  },
  {
    title: 'no two files export the same name',
    check: sharedNames,
    faulty: [
      'keys/a.ts: \nexport const x = 1; | wire/a.ts: \nexport function x() {}',
      'keys/a.ts: \nexport class X {} | wire/a.ts: \nconst y = 1;\nexport { y as X };',
    ],
    correct: [
      "keys/a.ts: \nexport const x = 1; | keys/index.ts: \nexport { x } from './a.js';",
      "keys/a.ts: \nexport const x = 1; | keys/index.ts: \nimport { x } from './a.js';\nexport { x };",
      'keys/a.ts: \nexport function x(a: 1): 1;\nexport function x(a: 2): 2; | keys/b.ts: \nconst x = 1;',
    ],
  },
  {
    title: 'folders are named in kebab-case, and no name is a dumping ground',
    check: names,
    faulty: [
      'keyRings/a.ts:',
      'key_rings/a.ts:',
      'keys/utils.ts:',
      'keys/key-manager.ts:',
      'common/a.ts:',
      'http/misc.d.ts:',
    ],
    correct: ['keys/base58.ts:', 'http/create-intent/terms.ts:', 'index.ts:', 'http/media-types.ts:'],
  },
];

const planted = (files: string): SourceFile[] =>
  files.split(' | ').map((file) => {
    const end = file.indexOf(':');
    return { name: file.slice(0, end), text: file.slice(end + 1) };
  });

describe.each(rules)('$title', ({ check, faulty, correct }) => {
  it('holds in src/', () => {
    expect(check(readSources())).toEqual([]);
  });

  it.each(faulty)('finds %s', (files) => {
    expect(check(planted(files))).toHaveLength(1);
  });

  it.each(correct)('accepts %s', (files) => {
    expect(check(planted(files))).toEqual([]);
  });
});
