// Reads the hand-written files of src/ and the imports between them, for `npm run figures` and the test of the architecture.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';

const sourceFolder = fileURLToPath(new URL('../../src', import.meta.url));

/** The specifier of an import that is computed at run time. */
export const computedImport = 'a computed import';

/** The hand-written files of src/, without generated code and data. */
export function readSources() {
  return readdirSync(sourceFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ file, name: path.relative(sourceFolder, file).split(path.sep).join('/') }))
    .filter(({ name }) => !/^wire\/generated\/|\.json$/.test(name))
    .map(({ file, name }) => ({ name, text: readFileSync(file, 'utf8') }));
}

/** Every node of a syntax tree. */
function* nodesIn(value) {
  if (typeof value !== 'object' || value === null) return;
  if (typeof value.type === 'string') yield value;
  for (const child of Object.values(value)) yield* nodesIn(child);
}

function specifierOf(node) {
  if (node?.type === 'StringLiteral') return node.value;
  return node?.type === 'TemplateLiteral' && node.quasis.length === 1 ? node.quasis[0].cooked : computedImport;
}

function importIn(node) {
  // Compiled code keeps the import of `import { type A }`, but not that of `import type`.
  const how = node.typeOnly || node.isTypeOnly ? 'type' : 'static';
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return { specifier: specifierOf(node.source), how };
    case 'ExportNamedDeclaration':
      return node.source ? { specifier: specifierOf(node.source), how } : undefined;
    case 'TsExternalModuleReference':
      return { specifier: specifierOf(node.expression), how: 'static' };
    case 'TsImportType':
      return { specifier: specifierOf(node.argument), how: 'type' };
    case 'CallExpression': {
      const specifier = specifierOf(node.arguments[0]?.expression);
      if (node.callee.type === 'Import') return { specifier, how: 'dynamic' };
      return node.callee.type === 'Identifier' && node.callee.value === 'require'
        ? { specifier, how: 'static' }
        : undefined;
    }
    default:
      return undefined;
  }
}

/** Parsing is the slow part. */
const importsByText = new Map();

/** The imports of a file: `static`, `dynamic` or `type`. */
export function importsOf({ name, text }) {
  if (!/\.[cm]?[jt]s$/.test(name)) return [];
  const known = importsByText.get(text);
  if (known) return known;
  const syntax = parseSync(text, { syntax: 'typescript', target: 'es2022' });
  const imports = [...nodesIn(syntax)].flatMap((node) => importIn(node) ?? []);
  importsByText.set(text, imports);
  return imports;
}

/** The file in src/ that a relative import refers to. */
export const resolveImport = (from, specifier) =>
  path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, '.ts');
