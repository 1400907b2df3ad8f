import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

// Reads what tsc has written, and only that: there every statement begins at the margin, every member of it is indented by
// four, and a docstring stands right above what it is about.

/** One statement of a declaration file. */
export interface Declaration {
  readonly name: string;
  /** Its docstring with the stars, or nothing. */
  readonly docstring: string;
  /** As declared, without `export` and `declare`. */
  readonly text: string;
  /** Path of its file. */
  readonly file: string;
}

interface DeclarationFile {
  readonly declared: ReadonlyMap<string, Declaration>;
  /** What comes from another file of ours: by its name here, and there. */
  readonly taken: ReadonlyMap<string, { readonly name: string; readonly file: string }>;
  /** The names that others may import from it. */
  readonly exported: readonly string[];
  /** `declare global`, where it adds to what is everybody's. */
  readonly added: readonly Declaration[];
}

const beginsStatement = /^(?:export|declare|import|interface|type|class)\b/;
const nameOf = /^(?:abstract )?(?:interface|type|class|function|const|namespace|global)\b ?([\w$]*)/;

/** The statements of a file, each with the comment above it. */
function statementsOf(text: string): { docstring: string; text: string }[] {
  const found: { docstring: string[]; lines: string[] }[] = [];
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    if (/^(?:\/\*\*| \*)/.test(line)) comment = line.startsWith('/**') ? [line] : [...comment, line];
    else if (beginsStatement.test(line)) {
      found.push({ docstring: comment, lines: [line] });
      comment = [];
    } else if (line !== '') found.at(-1)?.lines.push(line);
  }
  return found.map(({ docstring, lines }) => ({ docstring: docstring.join('\n'), text: lines.join('\n') }));
}

function readDeclarations(file: string): DeclarationFile {
  const declared = new Map<string, Declaration>();
  const taken = new Map<string, { name: string; file: string }>();
  const exported: string[] = [];
  const added: Declaration[] = [];
  for (const { docstring, text } of statementsOf(readFileSync(file, 'utf8'))) {
    const list = /^(import|export)(?: type)? \{([^}]*)\}(?: from '(\.[^']+)')?/.exec(text);
    if (list) {
      const [, way, names = '', from] = list;
      for (const item of names.split(',').filter((part) => part.trim() !== '')) {
        const [name = '', alias = name] = item
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        if (from) taken.set(alias, { name, file: normalize(join(dirname(file), from.replace(/\.js$/, '.d.ts'))) });
        if (way === 'export') exported.push(alias);
      }
      continue;
    }
    const plain = text.replace(/^(?:export |declare |default )+/, '');
    const [, name = ''] = nameOf.exec(plain) ?? [];
    if (plain.startsWith('global ')) added.push({ name: 'global', docstring, text: plain, file });
    if (name === '') continue;
    if (/^export /.test(text)) exported.push(name);
    const before = declared.get(name); // the overloads of a function are one declaration
    declared.set(name, {
      ...{ name, file },
      docstring: before?.docstring ?? docstring,
      text: before ? `${before.text}\n${plain}` : plain,
    });
  }
  return { declared, taken, exported, added };
}

/** The public API of one entry. */
export interface EntryReport {
  /** What can be imported. */
  readonly names: readonly Declaration[];
  /** What cannot, and shows in the types of what can. */
  readonly behind: readonly Declaration[];
  /** What the types add to those of others, such as Express's request. */
  readonly added: readonly Declaration[];
}

/**
 * Reads the public API from the declaration file of an entry.
 * @throws {Error} for a name whose declaration is not found, so that nothing is left out in silence
 */
export function reportOf(entry: string): EntryReport {
  const known = new Map<string, DeclarationFile>();
  const read = (file: string): DeclarationFile => {
    const found = known.get(file) ?? readDeclarations(file);
    known.set(file, found);
    return found;
  };
  const find = (name: string, file: string): Declaration | undefined => {
    const { declared, taken } = read(file);
    const there = taken.get(name);
    return declared.get(name) ?? (there && existsSync(there.file) ? find(there.name, there.file) : undefined);
  };
  const names = read(entry).exported.map((name) => {
    const declaration = find(name, entry);
    if (!declaration) throw new Error(`${entry} exports ${name}, and its declaration is not to be found.`);
    return declaration;
  });
  const seen = new Set(names);
  const waiting = [...names];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    // Of a value only its keys can show, by `keyof typeof`.
    if (next.text.startsWith('const ') && !names.includes(next)) continue;
    for (const [word] of withoutComments(next.text).matchAll(/[\w$]+/g)) {
      const declaration = find(word, next.file);
      if (declaration && !seen.has(declaration)) waiting.push(declaration);
      if (declaration) seen.add(declaration);
    }
  }
  const behind = [...seen].filter((declaration) => !names.includes(declaration));
  const files = new Set([...seen].map(({ file }) => file));
  return { names: sorted(names), behind: sorted(behind), added: [...files].sort().flatMap((file) => read(file).added) };
}

const sorted = (list: readonly Declaration[]): readonly Declaration[] =>
  [...list].sort((a, b) => (a.name < b.name ? -1 : 1));

const withoutComments = (text: string): string => text.replace(/\/\*\*[\s\S]*?\*\//g, '');

/** What the browser itself calls, and nobody else; and variables of the environment, which docs/reference.md explains. */
const explained = /^(?:observedAttributes|(?:connected|disconnected|attributeChanged)Callback|INTENT_[A-Z_]+)$/;

/** The names of an entry, and their members, that have no docstring: `ConfigOptions.routes`. */
export function undocumented({ names, behind, added }: EntryReport): string[] {
  const withMembers = [...names, ...behind.filter(({ text }) => !text.startsWith('const '))];
  return [...withMembers, ...added].flatMap(({ name, docstring, text }) => [
    ...(docstring === '' && name !== 'global' ? [name] : []),
    ...membersWithout(text).map((member) => `${name}.${member}`),
  ]);
}

function membersWithout(text: string): string[] {
  if (text.startsWith('function ')) return []; // what is inside of their parentheses is for their docstring
  const lines = text.split('\n');
  const ofExpress = text.startsWith('global ') && /^ {4}namespace /m.test(text);
  if (text.startsWith('global ') && !ofExpress) return [];
  const member = new RegExp(`^ {${ofExpress ? 12 : 4}}(?:readonly |get |set |static |abstract )*([\\w$]+)`);
  return lines.flatMap((line, n) => {
    const [, name] = member.exec(line) ?? [];
    if (!name || /^(?:private|protected|constructor|readonly)$/.test(name) || explained.test(name)) return [];
    const isNothing = line.endsWith('?: never;');
    return isNothing || /\*\/$/.test(lines[n - 1] ?? '') ? [] : [name];
  });
}

/** The entries of the package, as they are imported, and where tsc has put them. */
export const entries = {
  'express-intents': 'dist/index.d.ts',
  'express-intents/client': 'dist/client.d.ts',
  'express-intents/testing': 'dist/testing.d.ts',
  'express-intents/elements': 'dist/browser/elements.d.ts',
} as const;

/** The whole public API, for `docs/api.md`. What two entries have in common is written down once. */
export function apiPage(): string {
  const written = new Set<string>();
  const sections = Object.entries(entries).map(([entry, file]) => {
    const { names, behind, added } = reportOf(file);
    const isNew = ({ file: at, name }: Declaration): boolean => !written.has(`${at} ${name}`);
    const fresh = names.filter(isNew);
    const freshBehind = behind.filter(isNew);
    for (const { file: at, name } of [...names, ...behind]) written.add(`${at} ${name}`);
    const again = names.filter((declaration) => !fresh.includes(declaration)).map(({ name }) => `\`${name}\``);
    return [
      `## ${entry}`,
      ...(again.length > 0 ? [`The same as in \`express-intents\`: ${again.join(', ')}.`] : []),
      ...fresh.map(blockOf),
      ...(freshBehind.length > 0 ? ['These cannot be imported, and show in the types of what can:'] : []),
      ...freshBehind.map(blockOf),
      ...(added.length > 0 ? ['This is added to the types of others:'] : []),
      ...added.map(blockOf),
    ].join('\n\n');
  });
  return `${[apiHead, ...sections].join('\n\n')}\n`;
}

const apiHead = `# API

Every public name with its docstring, written by \`npm run api\` from the types that are packed. A test fails where this page and the
types differ, so that no change of the API goes unnoticed.`;

function blockOf({ docstring, text }: Declaration): string {
  const open = text.replace(/^ {4}(?:private |#private)[^;]*;\n/gm, '');
  const narrow = open.replace(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
  return ['```ts', ...(docstring === '' ? [] : [docstring]), narrow, '```'].join('\n');
}
