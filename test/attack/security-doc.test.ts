import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Row {
  readonly attack: string;
  readonly defense: string;
  /** Each a file in `test/`, without `.test.ts`, and the name of a test, or of a group of tests, in it. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

/** The rows of the table of attacks. */
function rowsOf(page: string): Row[] {
  const lines = page.split('\n').filter((line) => /^\| (?!attack \|)/.test(line));
  return lines.map((line) => {
    const [attack = '', defense = '', tests = ''] = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
    return { attack, defense, tests: tests.split('<br>').map(testOf) };
  });
}

function testOf(text: string): readonly [file: string, name: string] {
  const [, file = '', name = ''] = /^`([^`]+)` (.+)$/.exec(text) ?? [];
  return [file && `test/${file}.test.ts`, name];
}

/** The titles of the outermost groups and tests of a file, without a parameter at the end. */
function namesIn(file: string): string[] {
  const names = read(file).matchAll(/^(?:describe|test|it)(?:\.each\([\s\S]*?\))?\(\s*'((?:[^'\\]|\\.)+)'/gm);
  return [...names].map(([, name = '']) => name.replace(/, (?:kept in|on) %s$/, ''));
}

const attackFiles = [
  ...readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && name !== 'security-doc.test.ts')
    .map((name) => `test/attack/${name}`),
  'test/browser/attacks.test.ts',
];

/** The faults of the table. */
function faultsOf(page: string): string[] {
  const rows = rowsOf(page);
  const named = rows.flatMap(({ tests }) => tests);
  const isNamed = (file: string, name: string) => named.some((test) => test[0] === file && test[1] === name);
  return [
    ...rows
      .filter(({ attack, defense }) => attack === '' || defense.length < 20)
      .map(({ attack }) => `thin: ${attack}`),
    ...named.filter(([file, name]) => !file || !namesIn(file).includes(name)).map((test) => `no such test: ${test}`),
    ...attackFiles.flatMap((file) =>
      namesIn(file).flatMap((name) => (isNamed(file, name) ? [] : [`not in the table: ${file} ${name}`])),
    ),
  ];
}

describe('SECURITY.md', () => {
  const page = read('SECURITY.md');

  test('names existing tests, and every attack test', () => {
    expect(faultsOf(page)).toEqual([]);
    expect(rowsOf(page).length).toBeGreaterThan(25);
  });
});
