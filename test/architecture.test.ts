import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';

// The rules of the house, held by a walk through the syntax of every source file. Each rule is a function from files to
// the faults it finds, and is shown below to find one that is planted.

// ---- Who may import whom ----

/** The folders, or files in src/, that each folder may import besides itself; `type:` means its types alone. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  async: ['errors'],
  net: [],
  keys: ['errors'],
  wire: ['errors'],
  intents: ['wire', 'keys', 'errors'],
  sequencer: ['wire', 'keys', 'intents', 'errors'],
  telemetry: ['errors'],
  ledger: ['type:intents', 'errors', 'type:telemetry'],
  config: ['keys', 'errors', 'type:wire', 'type:intents', 'type:sequencer', 'type:ledger', 'type:http'],
  http: ['errors', 'keys', 'intents', 'sequencer', 'ledger', 'config', 'type:telemetry'],
  emulator: ['wire', 'keys', 'intents', 'errors'],
  testing: ['emulator', 'ledger', 'errors'],
  browser: ['intents'],
};
/** Leaves that every folder but the browser may import. */
const leaves = ['async', 'net'];
/** The folder router/, and files right in src/ that are no layer of their own, compose the others. */
const composition = 'the composition';

/** Packages that are for some folders only. */
const packageHomes: readonly { names: readonly string[]; homes: readonly string[]; typesFor: readonly string[] }[] = [
  { names: ['protobufjs', 'long'], homes: ['wire'], typesFor: [] },
  { names: ['express'], homes: ['http', 'emulator'], typesFor: [composition] },
  { names: ['@grpc/grpc-js'], homes: ['wire'], typesFor: ['sequencer', 'emulator'] },
  { names: ['pg', '@electric-sql/pglite'], homes: ['ledger'], typesFor: [] },
  { names: ['@opentelemetry/api'], homes: ['telemetry'], typesFor: [] },
];

const maxFileLines = 400;
const maxFunctionLines = 60;
const maxClosureLines = 30;

// ---- Reading sources ----

interface SourceFile {
  /** From src/ on, with slashes: `keys/base58.ts`. */
  readonly name: string;
  readonly text: string;
}

interface Import {
  readonly specifier: string;
  readonly how: 'static' | 'dynamic' | 'type';
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };
type Checker = (files: readonly SourceFile[]) => string[];

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Everything below a value that is a node of the syntax, with the nodes around it. */
function* nodesIn(value: unknown, parents: readonly Node[] = []): Generator<{ node: Node; parents: readonly Node[] }> {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) yield { node: value, parents };
  const inside = isNode(value) ? [...parents, value] : parents;
  for (const child of Object.values(value)) yield* nodesIn(child, inside);
}

/** The syntax of a file. Spans are in bytes and begin with 1 at the first of them, which is what the `;` is for. */
const parse = (() => {
  const known = new Map<string, Node>();
  return ({ name, text }: SourceFile): Node => {
    if (!/\.[cm]?[jt]s$/.test(name)) return { type: 'NoScript' };
    const key = `${name}\n${text}`;
    const source = `;${text.replace(/^#!/, '//')}`;
    const syntax = known.get(key) ?? (parseSync(source, { syntax: 'typescript', target: 'es2022' }) as unknown as Node);
    known.set(key, syntax);
    return syntax;
  };
})();

const stringOf = (node: unknown): string => {
  const { type, value, quasis } = (node ?? {}) as { type?: string; value?: unknown; quasis?: { cooked?: string }[] };
  if (type === 'StringLiteral') return String(value);
  return type === 'TemplateLiteral' && quasis?.length === 1
    ? String(quasis[0]?.cooked)
    : 'an import that is worked out';
};

function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  for (const { node } of nodesIn(parse(file))) {
    const firstArgument = (): string => stringOf((node.arguments as { expression: unknown }[])[0]?.expression);
    const callee = node.callee as { type?: string; value?: string } | undefined;
    // `import { type A }` leaves an import behind when it is compiled; `import type` alone leaves none.
    const how = node.typeOnly || node.isTypeOnly ? 'type' : 'static';
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') {
      found.push({ specifier: stringOf(node.source), how });
    } else if (node.type === 'ExportNamedDeclaration' && node.source) {
      found.push({ specifier: stringOf(node.source), how });
    } else if (node.type === 'TsExternalModuleReference') {
      found.push({ specifier: stringOf(node.expression), how: 'static' });
    } else if (node.type === 'TsImportType') {
      found.push({ specifier: stringOf(node.argument), how: 'type' });
    } else if (node.type === 'CallExpression' && callee?.type === 'Import') {
      found.push({ specifier: firstArgument(), how: 'dynamic' });
    } else if (node.type === 'CallExpression' && callee?.type === 'Identifier' && callee.value === 'require') {
      found.push({ specifier: firstArgument(), how: 'static' });
    }
  }
  return found;
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.');
const resolve = (from: string, specifier: string): string =>
  path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '.ts');

/** The folder of a file; for one right in src/, its own name if that is a layer. */
function layerOf(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0) return first === 'router' ? composition : first;
  const own = first.replace(/\.ts$/, '');
  return own in allowedImports ? own : composition;
}

// ---- The rules ----

const layers: Checker = (files) =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier }) => isRelative(specifier))
      .flatMap(({ specifier, how }) => {
        const [from, to] = [layerOf(file.name), layerOf(resolve(file.name, specifier))];
        const fault = `${file.name} imports ${specifier}`;
        if (from === 'cli' || from === to) return [];
        if (to === 'cli') return [`${fault}: nothing imports cli`];
        if (from === composition) return [];
        const allowed = allowedImports[from];
        if (!allowed) return [`${fault}: the folder ${from} has no rule`];
        if (leaves.includes(to) && !['browser', ...leaves].includes(from) && from !== 'errors') return [];
        if (allowed.includes(to) || (how === 'type' && allowed.includes(`type:${to}`))) return [];
        return [`${fault}: ${from} may import ${allowed.join(', ') || 'nothing'}`];
      }),
  );

/** The name of the package that a specifier belongs to. */
const packageOf = (specifier: string): string =>
  specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : (specifier.split('/')[0] ?? '');

const packages: Checker = (files) =>
  files.flatMap((file) =>
    importsOf(file).flatMap(({ specifier, how }) => {
      if (isRelative(specifier)) return [];
      const rule = packageHomes.find(({ names }) => names.includes(packageOf(specifier)));
      const layer = layerOf(file.name);
      if (!rule || rule.homes.includes(layer) || (how === 'type' && rule.typesFor.includes(layer))) return [];
      return [`${file.name} imports ${specifier}: that is for ${rule.homes.join(' and ')}`];
    }),
  );

const workedOut: Checker = (files) =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier }) => specifier === stringOf(undefined))
      .map(({ specifier }) => `${file.name} has ${specifier}`),
  );

const emulatorOnDemand: Checker = (files) =>
  files.flatMap((file) => {
    const layer = layerOf(file.name);
    if (['emulator', 'testing', 'cli'].includes(layer)) return [];
    return importsOf(file)
      .filter(({ specifier }) => isRelative(specifier) && layerOf(resolve(file.name, specifier)) === 'emulator')
      .filter(({ how }) => layer !== composition || how === 'static')
      .map(({ specifier, how }) => `${file.name} has a ${how} import of ${specifier}`);
  });

/** All that is loaded with a file, by imports that are neither for types nor on demand. */
function loadedWith(name: string, files: readonly SourceFile[]): Set<string> {
  const byName = new Map(files.map((file) => [file.name, file]));
  const loaded = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const file = byName.get(next);
    if (loaded.has(next) || !file) continue;
    loaded.add(next);
    const imports = importsOf(file).filter(({ specifier, how }) => isRelative(specifier) && how === 'static');
    waiting.push(...imports.map(({ specifier }) => resolve(file.name, specifier)));
  }
  return loaded;
}

const productionHoldsNoEmulator: Checker = (files) =>
  ['index.ts', 'client.ts'].flatMap((entry) =>
    [...loadedWith(entry, files)]
      .filter((name) => ['emulator', 'testing', 'cli'].includes(layerOf(name)))
      .map((name) => `${entry} loads ${name}`),
  );

const browserNeedsNoNode: Checker = (files) => {
  // A script in the folder is what builds it, and no browser sees it.
  const entries = files.filter(({ name }) => layerOf(name) === 'browser' && name.endsWith('.ts'));
  const loaded = new Set(entries.flatMap(({ name }) => [...loadedWith(name, files)]));
  return files
    .filter(({ name }) => loaded.has(name))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier, how }) => how !== 'type' && !isRelative(specifier) && isBuiltin(specifier))
        .map(({ specifier }) => `${file.name}, which the browser loads, imports ${specifier}`),
    );
};

const identifierOf = (node: unknown): string => {
  const { type, value, property } = (node ?? {}) as { type?: string; value?: string; property?: unknown };
  if (type === 'MemberExpression') return identifierOf(property);
  if (type === 'Computed') return identifierOf((node as { expression?: unknown }).expression);
  return type === 'Identifier' || type === 'StringLiteral' ? String(value) : '';
};

/** How a file reaches the environment: `NODE_ENV` and the like, or `all of it`. */
function environmentReads(file: SourceFile): string[] {
  const isEnvironment = (node: unknown): boolean =>
    isNode(node) &&
    node.type === 'MemberExpression' &&
    identifierOf(node.object) === 'process' &&
    identifierOf(node.property) === 'env';
  const reads: string[] = [];
  for (const { node, parents } of nodesIn(parse(file))) {
    const parent = parents.at(-1);
    if (isEnvironment(node)) {
      const isReadFrom = parent?.type === 'MemberExpression' && parent.object === node;
      reads.push((isReadFrom && identifierOf(parent.property)) || 'all of it');
    }
    // `const { env } = process`, and an import of it.
    if (node.type === 'VariableDeclarator' && identifierOf(node.init) === 'process') reads.push('all of it');
    if (node.type === 'ImportDeclaration' && /^(?:node:)?process$/.test(stringOf(node.source))) reads.push('all of it');
  }
  return reads;
}

const environment: Checker = (files) => {
  const reads = files.flatMap((file) => environmentReads(file).map((what) => ({ file, what })));
  const inEmulator = reads.filter(({ file, what }) => layerOf(file.name) === 'emulator' && what === 'NODE_ENV');
  return reads
    .filter((read) => read.file.name !== 'config/config.ts' && read !== inEmulator[0])
    .map(({ file, what }) => `${file.name} reads the environment: ${what}`);
};

const fileLengths: Checker = (files) =>
  files
    .map(({ name, text }) => ({ name, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > maxFileLines)
    .map(({ name, lines }) => `${name} has ${lines} lines`);

const dumpingGround = /(?:^|-)(?:utils?|helpers?|managers?)$|^(?:types?|commons?|misc)$/;

const names: Checker = (files) =>
  files.flatMap(({ name }) =>
    name
      .split('/')
      .map((part) => part.replace(/(?:\.d)?\.[a-z]+$/, ''))
      .filter((part) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(part) || dumpingGround.test(part))
      .map((part) => `${name}: ${part} is no name for it`),
  );

const explicitExports: Checker = (files) =>
  files
    .filter(({ name }) => ['index.ts', 'client.ts', 'testing.ts'].includes(name))
    .flatMap((file) =>
      [...nodesIn(parse(file))]
        .filter(({ node }) => ['ExportAllDeclaration', 'ExportNamespaceSpecifier'].includes(node.type))
        .map(() => `${file.name} has an export of everything`),
    );

const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'Constructor'];
const methodTypes = ['ClassMethod', 'PrivateMethod', 'MethodProperty', 'GetterProperty', 'SetterProperty'];
const isFunction = (node: Node): boolean => functionTypes.includes(node.type) || methodTypes.includes(node.type);

/** Lines from the first to the last of a node, blank ones among them. */
function linesOf(node: Node, file: SourceFile): { first: number; lines: number } {
  const { start, end } = node.span as { start: number; end: number };
  const bytes = Buffer.from(`;${file.text}`);
  const lineBreaks = (from: number, to: number): number => bytes.subarray(from, to).toString().split('\n').length - 1;
  return { first: lineBreaks(0, start - 1) + 1, lines: lineBreaks(start - 1, end - 1) + 1 };
}

function tooLong(file: SourceFile, functions: readonly Node[], limit: number, what: string): string[] {
  return functions
    .map((node) => linesOf(node, file))
    .filter(({ lines }) => lines > limit)
    .map(({ first, lines }) => `${file.name}:${first}: a ${what} of ${lines} lines`);
}

const functionLengths: Checker = (files) =>
  files.flatMap((file) => {
    const functions = [...nodesIn(parse(file))].map(({ node }) => node).filter(isFunction);
    return tooLong(file, functions, maxFunctionLines, 'function');
  });

/** The functions that an expression is, or chooses among, or has as members; `local` are those that go by a name. */
function functionsGiven(value: unknown, local: ReadonlyMap<string, Node>): Node[] {
  if (!isNode(value)) return [];
  const given = (...inner: unknown[]): Node[] => inner.flatMap((each) => functionsGiven(each, local));
  if (isFunction(value)) return [value];
  if (value.type === 'Identifier') return [local.get(String(value.value)) ?? []].flat();
  if (value.type === 'ObjectExpression') return given(...(value.properties as unknown[]));
  if (value.type === 'KeyValueProperty') return given(value.value);
  if (value.type === 'ConditionalExpression') return given(value.consequent, value.alternate);
  if (value.type === 'CallExpression' && identifierOf(value.callee) === 'freeze') {
    return given(...(value.arguments as { expression: unknown }[]).map(({ expression }) => expression));
  }
  return ['ParenthesisExpression', 'TsAsExpression', 'TsSatisfiesExpression'].includes(value.type)
    ? given(value.expression)
    : [];
}

/** The functions declared inside of functions, by name: when one is returned, it is a closure. */
function closuresByName(syntax: Node): Map<string, Node> {
  const inner = [...nodesIn(syntax)].filter(({ parents }) => parents.some(isFunction)).map(({ node }) => node);
  return new Map(
    inner.flatMap((node): [string, Node][] => {
      if (node.type === 'FunctionDeclaration') return [[identifierOf(node.identifier), node]];
      const isNamed = node.type === 'VariableDeclarator' && isNode(node.init) && isFunction(node.init);
      return isNamed ? [[identifierOf(node.id), node.init as Node]] : [];
    }),
  );
}

const closureLengths: Checker = (files) =>
  files.flatMap((file) => {
    const syntax = parse(file);
    const local = closuresByName(syntax);
    const returned = [...nodesIn(syntax)].flatMap(({ node }) => {
      if (node.type === 'ReturnStatement') return functionsGiven(node.argument, local);
      return node.type === 'ArrowFunctionExpression' ? functionsGiven(node.body, local) : [];
    });
    return tooLong(file, [...new Set(returned)], maxClosureLines, 'returned closure');
  });

// ---- The sources, and what is planted to see each rule at work ----

const sourceFolder = fileURLToPath(new URL('../src', import.meta.url));
const sources: SourceFile[] = readdirSync(sourceFolder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.join(entry.parentPath, entry.name))
  .map((file) => ({ file, name: path.relative(sourceFolder, file).split(path.sep).join('/') }))
  .filter(({ name }) => !/^(?:wire\/generated|browser\/built)\/|\.json$/.test(name))
  .map(({ file, name }) => ({ name, text: readFileSync(file, 'utf8') }));

const blank = (lines: number): string => '\n'.repeat(lines);
const aFile = (name: string, text: string): SourceFile => ({ name, text });

interface Rule {
  readonly title: string;
  readonly check: Checker;
  /** Each has a fault, and one only. */
  readonly faulty: readonly (readonly SourceFile[])[];
  /** What comes near, and is right. */
  readonly sound: readonly SourceFile[];
}

const rules: Rule[] = [
  {
    title: 'each folder imports only those that it may',
    check: layers,
    faulty: [
      [aFile('errors.ts', `import { x } from './keys/base58.js';`)],
      [aFile('keys/a.ts', `import { x } from '../wire/codec.js';`)],
      [aFile('keys/a.ts', `import type { X } from '../intents/money.js';`)],
      [aFile('wire/a.ts', `export { x } from '../keys/base58.js';`)],
      [aFile('wire/a.ts', `export * from '../intents/money.js';`)],
      [aFile('intents/a.ts', `import '../sequencer/transport.js';`)],
      [aFile('intents/a.ts', `const x = await import('../http/router.js');`)],
      [aFile('intents/a.ts', 'const x = await import(`../http/router.js`);')],
      [aFile('sequencer/a.ts', `import { x } from '../config/config.js';`)],
      [aFile('sequencer/a.ts', `import { x } from '../index.js';`)],
      [aFile('ledger/a.ts', `import { x } from '../intents/money.js';`)],
      [aFile('ledger/a.ts', `import { type X } from '../intents/money.js';`)],
      [aFile('telemetry/a.ts', `import type { X } from '../http/router.js';`)],
      [aFile('http/a.ts', `import { x } from '../telemetry/open-telemetry.js';`)],
      [aFile('sequencer/a.ts', `import type { X } from '../telemetry/router-observer.js';`)],
      [aFile('config/a.ts', `import { x } from '../sequencer/transport.js';`)],
      [aFile('config/a.ts', `import type { X } from '../emulator/server.js';`)],
      [aFile('http/a.ts', `import { x } from '../wire/codec.js';`)],
      [aFile('http/a.ts', `type X = import('../emulator/server.js').X;`)],
      [aFile('http/deep/a.ts', `import { x } from '../../emulator/server.js';`)],
      [aFile('emulator/a.ts', `import { x } from '../sequencer/transport.js';`)],
      [aFile('emulator/a.ts', `import { x } from '../testing/pass-time.js';`)],
      [aFile('testing/a.ts', `import { x } from '../http/router.js';`)],
      [aFile('http/a.ts', `import { x } from '../testing/pass-time.js';`)],
      [aFile('browser/a.ts', `import { x } from '../keys/base58.js';`)],
      [aFile('index.ts', `import { x } from './cli/main.js';`)],
      [aFile('http/a.ts', `import type { X } from '../cli/main.js';`)],
      [aFile('novelty/a.ts', `import { x } from '../errors.js';`)],
      [aFile('keys/a.ts', `const x = require('../wire/codec.js');`)],
      [aFile('keys/a.ts', `import x = require('../wire/codec.js');`)],
    ],
    sound: [
      aFile('keys/a.ts', `import { x } from '../errors.js'; import { y } from './base58.js'; import z from 'bs58';`),
      aFile('ledger/a.ts', `import type { X } from '../intents/money.js'; import { y } from '../errors.js';`),
      aFile('config/a.ts', `import type { X } from '../http/router.js'; import { y } from '../keys/key-ring.js';`),
      aFile('http/a.ts', `import type { X } from '../telemetry/router-observer.js';`),
      aFile(
        'router/intent-router.ts',
        `import { x } from '../http/router.js'; import { y } from '../sequencer/transport.js';`,
      ),
      aFile('cli/a.ts', `import { x } from '../emulator/server.js'; import { y } from '../index.js';`),
      aFile('keys/b.ts', `// import { x } from '../wire/codec.js';\nconst text = "import('../wire/codec.js')";`),
    ],
  },
  {
    title:
      'wire/ alone imports protobufjs, long and gRPC, http/ and emulator/ express, ledger/ databases, telemetry/ OpenTelemetry',
    check: packages,
    faulty: [
      [aFile('intents/a.ts', `import Long from 'long';`)],
      [aFile('sequencer/a.ts', `import $protobuf from 'protobufjs/minimal.js';`)],
      [aFile('sequencer/a.ts', `import type { Reader } from 'protobufjs';`)],
      [aFile('sequencer/a.ts', `import { Client } from '@grpc/grpc-js';`)],
      [aFile('emulator/a.ts', `const grpc = await import('@grpc/grpc-js');`)],
      [aFile('index.ts', `import type { Client } from '@grpc/grpc-js';`)],
      [aFile('index.ts', `import express from 'express';`)],
      [aFile('index.ts', `import { type Router } from 'express';`)],
      [aFile('sequencer/a.ts', `import type { Request } from 'express';`)],
      [aFile('cli/a.ts', `const express = await import('express');`)],
      [aFile('http/a.ts', `import type { PoolClient } from 'pg';`)],
      [aFile('http/a.ts', `import type { Span } from '@opentelemetry/api';`)],
      [aFile('index.ts', `const api = require('@opentelemetry/api');`)],
      [aFile('cli/a.ts', `const { PGlite } = await import('@electric-sql/pglite');`)],
    ],
    sound: [
      aFile('wire/a.ts', `import Long from 'long'; import $protobuf from 'protobufjs/minimal.js';`),
      aFile('wire/b.ts', `const grpc = await import('@grpc/grpc-js');`),
      aFile('sequencer/b.ts', `import type { Client } from '@grpc/grpc-js';`),
      aFile('http/a.ts', `import express from 'express';`),
      aFile('emulator/a.ts', `import express from 'express';`),
      aFile('index.ts', `import type { RequestHandler } from 'express';`),
      aFile('sequencer/a.ts', `import session from 'express-session';`),
    ],
  },
  {
    title: 'what is imported is written out',
    check: workedOut,
    faulty: [
      [aFile('http/a.ts', `const name = '../cli/main.js'; await import(name);`)],
      [aFile('http/a.ts', `await import('../' + a + '.js');`)],
    ],
    sound: [aFile('http/a.ts', `await import('../config.js');`)],
  },
  {
    title: 'emulator/ is loaded on demand only, by the composition; testing.ts, testing/ and cli/ may hold it',
    check: emulatorOnDemand,
    faulty: [
      [aFile('index.ts', `import { x } from './emulator/index.js';`)],
      [aFile('client.ts', `export { x } from './emulator/index.js';`)],
      [aFile('index.ts', `import { type X } from './emulator/index.js';`)],
      [aFile('http/a.ts', `await import('../emulator/index.js');`)],
      [aFile('config/a.ts', `import type { X } from '../emulator/index.js';`)],
    ],
    sound: [
      aFile(
        'router/intent-router.ts',
        `await import('../emulator/index.js'); import type { X } from '../emulator/index.js';`,
      ),
      aFile('testing.ts', `export { x } from './emulator/index.js';`),
      aFile('testing/a.ts', `import { x } from '../emulator/index.js';`),
      aFile('cli/a.ts', `import { x } from '../emulator/index.js';`),
      aFile('emulator/a.ts', `import { x } from './server.js';`),
    ],
  },
  {
    title: 'index.ts and client.ts load neither emulator/ nor testing/ nor cli/, by any way round',
    check: productionHoldsNoEmulator,
    faulty: [
      [
        aFile('index.ts', `import './a.js';`),
        aFile('a.ts', `export { x } from './emulator/server.js';`),
        aFile('emulator/server.ts', ''),
      ],
      [aFile('client.ts', `import './testing.js';`), aFile('testing.ts', '')],
      [aFile('client.ts', `import './testing/pass-time.js';`), aFile('testing/pass-time.ts', '')],
    ],
    sound: [
      aFile('index.ts', `import './a.js'; import type { X } from './emulator/server.js';`),
      aFile('a.ts', `await import('./emulator/server.js');`),
      aFile('emulator/server.ts', ''),
    ],
  },
  {
    title: 'the browser loads nothing that needs Node',
    check: browserNeedsNoNode,
    faulty: [
      [aFile('browser/a.ts', `import { createHash } from 'node:crypto';`)],
      [
        aFile('browser/a.ts', `import { x } from '../intents/b.js';`),
        aFile('intents/b.ts', `import { y } from '../keys/c.js';`),
        aFile('keys/c.ts', `import { createHash } from 'crypto';`),
      ],
    ],
    sound: [
      aFile('browser/bundle.mjs', `import { gzipSync } from 'node:zlib';`),
      aFile('browser/a.ts', `import { x } from '../intents/b.js';`),
      aFile('intents/b.ts', `import type { KeyObject } from 'node:crypto'; import bs58 from 'bs58';`),
      aFile('keys/c.ts', `import { createHash } from 'node:crypto';`),
    ],
  },
  {
    title: 'config/config.ts alone reads the environment, but for one look of emulator/ at NODE_ENV',
    check: environment,
    faulty: [
      [aFile('http/a.ts', 'const x = process.env.HOME;')],
      [aFile('http/a.ts', `const x = process['env'].HOME;`)],
      [aFile('http/a.ts', 'const x = globalThis.process.env;')],
      [aFile('http/a.ts', 'const x = process?.env?.HOME;')],
      [aFile('http/a.ts', 'const { env } = process;')],
      [aFile('http/a.ts', `import { env } from 'node:process';`)],
      [aFile('index.ts', 'const x = process.env.NODE_ENV;')],
      [aFile('cli/a.ts', 'run({ env: process.env });')],
      [aFile('emulator/a.ts', 'const x = process.env.HOME;')],
      [aFile('emulator/a.ts', 'const x = process.env;')],
      [aFile('emulator/a.ts', 'process.env.NODE_ENV;'), aFile('emulator/b.ts', 'process.env.NODE_ENV;')],
    ],
    sound: [
      aFile('config/config.ts', 'const x = process.env.HOME; const y = process.env;'),
      aFile('emulator/a.ts', `if (process.env.NODE_ENV === 'production') throw new Error('No process.env.X');`),
      aFile('http/a.ts', 'const x = process.uptime(); const y = options.env;'),
    ],
  },
  {
    title: `no file has more than ${maxFileLines} lines`,
    check: fileLengths,
    faulty: [[aFile('keys/a.ts', `${blank(maxFileLines)}x();\n`)]],
    sound: [aFile('keys/a.ts', `${blank(maxFileLines - 1)}x();\n`)],
  },
  {
    title: 'names are in kebab-case, and none is a dumping ground',
    check: names,
    faulty: [
      'keys/keyRing.ts',
      'keys/KeyRing.ts',
      'keys/key_ring.ts',
      'keyRings/a.ts',
      'keys/-a.ts',
      'keys/a.b.ts',
      'keys/utils.ts',
      'utils/a.ts',
      'keys/util.ts',
      'keys/helpers.ts',
      'keys/string-helpers.ts',
      'keys/key-manager.ts',
      'http/types.ts',
      'types.ts',
      'common/a.ts',
      'http/misc.ts',
    ].map((name) => [aFile(name, '')]),
    sound: ['keys/base58.ts', 'http/read-json-body.ts', 'index.ts', 'http/media-types.ts'].map((name) =>
      aFile(name, ''),
    ),
  },
  {
    title: 'index.ts, client.ts and testing.ts say what they export',
    check: explicitExports,
    faulty: [
      [aFile('index.ts', `export * from './errors.js';`)],
      [aFile('client.ts', `export * as errors from './errors.js';`)],
      [aFile('testing.ts', `export type * from './errors.js';`)],
    ],
    sound: [
      aFile('index.ts', `export { IntentError } from './errors.js'; export type { X } from './config.js';`),
      aFile('keys/index.ts', `export * from './base58.js';`),
    ],
  },
  {
    title: `no function has more than ${maxFunctionLines} lines`,
    check: functionLengths,
    faulty: [
      `function a() {${blank(maxFunctionLines)}}`,
      `export const a = async () => {${blank(maxFunctionLines)}};`,
      `// é is two bytes\nclass A { #m() {${blank(maxFunctionLines)}} }`,
      `class A { constructor() {${blank(maxFunctionLines)}} }`,
      `class A { get a() {${blank(maxFunctionLines)}return 1; } }`,
      `const a = { m() {${blank(maxFunctionLines)}} };`,
      `#!/usr/bin/env node\nfunction a() {${blank(maxFunctionLines)}}`,
    ].map((text) => [aFile('keys/a.ts', text)]),
    sound: [
      aFile(
        'keys/a.ts',
        `function a() {${blank(maxFunctionLines - 1)}}\nfunction b() {${blank(maxFunctionLines - 1)}}`,
      ),
      aFile('keys/b.ts', `class A {${blank(maxFunctionLines * 2)}}`),
    ],
  },
  {
    title: `no returned closure has more than ${maxClosureLines} lines`,
    check: closureLengths,
    faulty: [
      `function a() { return () => {${blank(maxClosureLines)}}; }`,
      `function a() { return function named() {${blank(maxClosureLines)}}; }`,
      `const a = () => () => {${blank(maxClosureLines)}};`,
      `const a = () => ({ b: () => {${blank(maxClosureLines)}} });`,
      `function a() { return Object.freeze({ b() {${blank(maxClosureLines)}} }); }`,
      `function a() { const b = () => {${blank(maxClosureLines)}}; return b; }`,
      `function a() { return b as Handler; function b() {${blank(maxClosureLines)}} }`,
      `function a() { return c ? () => {${blank(maxClosureLines)}} : null; }`,
    ].map((text) => [aFile('http/a.ts', text)]),
    sound: [
      aFile('http/a.ts', `function a() { return () => {${blank(maxClosureLines - 1)}}; }`),
      aFile('http/b.ts', `function b() {${blank(maxClosureLines)}} function a() { return b; }`),
      aFile('http/c.ts', `function a() { const b = () => {${blank(maxClosureLines)}}; return b(); }`),
    ],
  },
];

describe('the architecture', () => {
  test('the sources are found, and every import of one of them leads to a file', () => {
    const known = new Set(sources.map(({ name }) => name));
    expect([...known]).toEqual(
      expect.arrayContaining(['errors.ts', 'keys/base58.ts', 'wire/codec.ts', 'intents/money.ts']),
    );
    const lost = sources.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => isRelative(specifier) && !specifier.includes('/generated/'))
        .map(({ specifier }) => resolve(file.name, specifier))
        .filter((name) => !known.has(name) && !known.has(name.replace(/\.ts$/, '.js'))),
    );
    expect(lost).toEqual([]);
  });

  describe.each(rules)('$title', ({ check, faulty, sound }) => {
    test('holds for src/', () => {
      expect(check(sources)).toEqual([]);
    });

    test('a planted fault is found', () => {
      for (const files of faulty) {
        const found = check(files);
        if (found.length !== 1)
          throw new Error(`${found.length} faults found in ${JSON.stringify(files).slice(0, 200)}`);
      }
    });

    test('what is right is left alone', () => {
      expect(check(sound)).toEqual([]);
    });
  });
});
