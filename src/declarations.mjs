// Selects the declarations that the entries of the package export, and all that those reference. tsc writes the declarations
// of whole files, and most of them are internal. Used by bundle.mjs.
import path from 'node:path';

const comments = /^ *\/\*\*[\s\S]*?\*\/\n/gm;

/** The top-level statements in the output of tsc, each with its comment. Their other lines are indented or close a bracket. */
function statementsIn(text) {
  const parts = text.trimEnd().split(/\n(?![ })\]])/);
  return parts.flatMap((part, index) => {
    if (part.endsWith('*/')) return [];
    const previous = parts[index - 1] ?? '';
    return [previous.endsWith('*/') ? `${previous}\n${part}` : part];
  });
}

const listForm = /^(import|export) (?:type )?\{([^}]*)\}(?: from '([^']+)')?;$/;
const packageForm = /^import (?:type )?(?:\* as )?(\w+) from '[^'.]+';$/;
const globalForm = /^declare (?:global|module '[^']+') \{/;
const namedForm = /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const|enum) (\w+)/;

/** `name` is the name in the source, `local` the name in this file. */
const namesIn = (list) =>
  list.split(',').map((item) => {
    const [name, local = name] = item
      .trim()
      .replace(/^type /, '')
      .split(' as ');
    return { item: item.trim(), name, local };
  });

/** @throws {Error} for an unknown form, because its names would be lost */
function parse(file, text) {
  const code = `${text}\n`.replaceAll(comments, '').trimEnd();
  if (code === 'export {};') return { kind: 'module', text };
  const [isList, kind, items, specifier = `./${path.basename(file, '.d.ts')}.js`] = listForm.exec(code) ?? [];
  if (isList) {
    const source = specifier.startsWith('.') && path.join(path.dirname(file), specifier.replace(/\.js$/, '.d.ts'));
    return { kind, text, names: namesIn(items), source };
  }
  const [, local] = packageForm.exec(code) ?? [];
  if (local) return { kind: 'import', text, names: [{ item: local, name: local, local }], source: false };
  const [, exported, name] = namedForm.exec(code) ?? [];
  const isGlobal = globalForm.test(code);
  if ((!name && !isGlobal) || code.includes(" import('.")) throw new Error(`${file} has an unknown form: ${code}`);
  return { kind: isGlobal ? 'global' : 'declaration', text, name, exported, words: new Set(code.match(/\w+/g)) };
}

/**
 * The needed text of each needed file. Only files that an entry exports from keep their comments.
 *
 * @param entries the paths of the declarations of the entries
 * @param read returns the text of a file
 */
export function neededDeclarations(entries, read) {
  const files = new Map();
  const needed = new Set();

  function statementsOf(file) {
    const known = files.get(file);
    if (known) return known;
    const statements = statementsIn(read(file)).map((text) => parse(file, text));
    files.set(file, statements);
    for (const statement of statements) if (statement.kind === 'global') needDeclaration(file, statement);
    return statements;
  }

  function needName(file, name) {
    for (const statement of statementsOf(file)) {
      if (statement.name === name) needDeclaration(file, statement);
      const listed = statement.names?.find(({ local }) => local === name);
      if (listed) needListed(statement, listed);
    }
  }

  /** Any word of a declaration can be a name of its file. */
  function needDeclaration(file, statement) {
    if (needed.has(statement)) return;
    needed.add(statement);
    for (const word of statement.words) needName(file, word);
  }

  function needListed(statement, listed) {
    if (needed.has(listed)) return;
    needed.add(statement).add(listed);
    if (statement.source) needName(statement.source, listed.name);
  }

  for (const entry of entries) {
    for (const statement of statementsOf(entry)) {
      if (statement.exported) needDeclaration(entry, statement);
      if (statement.kind === 'export') for (const listed of statement.names) needListed(statement, listed);
    }
  }

  const exporting = new Set(entries);
  for (const file of exporting)
    for (const statement of statementsOf(file)) {
      if (statement.kind === 'export' && needed.has(statement)) exporting.add(statement.source);
    }

  function textOf(file) {
    const statements = statementsOf(file).filter((one) => one.kind === 'module' || needed.has(one));
    const text = statements.map(({ text, names }) => {
      const unneeded = names?.some((listed) => !needed.has(listed));
      const items = names?.filter((listed) => needed.has(listed)).map(({ item }) => item);
      return unneeded ? text.replace(/\{[^}]*\}/, `{ ${items.join(', ')} }`) : text;
    });
    const whole = `${text.join('\n')}\n`;
    return exporting.has(file) ? whole : whole.replaceAll(comments, '');
  }

  const isNeeded = ([, statements]) => statements.some((statement) => needed.has(statement));
  return new Map([...files].filter(isNeeded).map(([file]) => [file, textOf(file)]));
}
