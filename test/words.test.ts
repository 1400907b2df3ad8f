import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// The words that the project does not use, in names, comments, messages, test titles and docs, each with the standard term.

const root = fileURLToPath(new URL('..', import.meta.url));

/** A pattern over lower-case text in which `camelCase` is two words, and what to write instead. */
const avoided: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\banew\b/g, 'again'],
  [/\b(?:who|which)ever\b/g, 'the client, the caller, the process: name the actor'],
  [/\b(?:no|some|every)body\b/g, 'no client, another process, all readers: name the actor'],
  [/\bmend(?:s|ed|ing)?\b/g, 'fix'],
  [/\bslip(?:s|ped)?\b/g, 'typo, error'],
  [/\btold\b/g, 'reported, emitted, notified'],
  [/\b(?:is|are|was|were|be|been|gets?) asked\b/g, 'receives a request, is polled'],
  [/\bwho asks\b/g, 'the caller'],
  [/\bby itself\b/g, 'automatically, alone'],
  [/\bbeside\b/g, 'next to, during'],
  [/\bin vain\b/g, 'without success'],
  [/\b(?:is|are|was|were|be) let go\b/g, 'released, closed'],
  [/\bgiv(?:e|es|en|ing) back\b/g, 'release, return'],
  [/\btaken for\b/g, 'treated as'],
  [/\b(?:nudg(?:e|es|ed|ing)|sightings?|seats|spoil(?:s|ed|t)?|misspelt|departures?|departed)\b/g, 'see the glossary'],
  [/\blook(?:s|ed)? at\b/g, 'checks, reads, polls'],
];

/** Where such a word is right, with the reason. */
const exceptions: readonly (readonly [file: string, words: string, reason: string])[] = [
  ['docs/interface.md', 'told', 'the contract is quoted as it is'],
  ['test/ledger/database/postgres/postgres.test.ts', 'nobody', 'a user of the operating system'],
  ['test/support/databases/postgres-process.mjs', 'nobody', 'a user of the operating system'],
];

const folders = ['src', 'proto', 'docs', 'example-app', 'bench', 'test'];
const skipped = /(?:^|\/)(?:node_modules|dist|generated|built|results|published|vectors)\/|(?:^|\/)words\.test\.ts$/;
const texts = /\.(?:ts|mts|js|mjs|cjs|css|html|md|proto|sql|yml|yaml|conf)$|openapi\.json$/;

function readTexts(): { name: string; text: string }[] {
  const below = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.posix.join(folder, name),
    ),
  );
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...top, ...below]
    .filter((name) => texts.test(name) && !skipped.test(name))
    .map((name) => ({ name, text: readFileSync(path.join(root, name), 'utf8') }));
}

/** Joins the lines of a comment, and splits `camelCase` and `snake_case` into words. */
const wordsOf = (text: string): string =>
  text
    .replace(/\n\s*(?:\*|\/\/|#)?\s*/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

function avoidedIn(text: string): string[] {
  const words = wordsOf(text);
  return avoided.flatMap(([pattern, instead]) =>
    [...words.matchAll(pattern)].map(([found]) => `${found} (${instead})`),
  );
}

test('no text of the project contains a word of the list', () => {
  const read = readTexts();
  expect(read.length).toBeGreaterThan(500);
  const allowed = (name: string, found: string): boolean =>
    exceptions.some(([file, words]) => file === name && found.startsWith(`${words} (`));
  const found = read.flatMap(({ name, text }) =>
    avoidedIn(text)
      .filter((each) => !allowed(name, each))
      .map((each) => `${name}: ${each}`),
  );
  expect(found).toEqual([]);
});

test('each exception is still needed', () => {
  const unneeded = exceptions.filter(([file, words]) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return !avoidedIn(text).some((found) => found.startsWith(`${words} (`));
  });
  expect(unneeded).toEqual([]);
});

test.each([
  ['a comment', '// Nobody reads it.', 'nobody'],
  ['two lines of a comment', '/**\n * The database is\n * asked.\n */', 'is asked'],
  ['a name', 'const lookedAt = 1;', 'looked at'],
  ['a constant', 'MENDED_AT', 'mended'],
  ['a heading', '# What is Told', 'told'],
])('the list finds a word in %s', (_place, text, word) => {
  expect(avoidedIn(text)).toEqual([expect.stringMatching(new RegExp(`^${word} \\(`))]);
});
