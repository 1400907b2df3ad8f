import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { root } from './consumer-project.js';

// `npm run release:check`, on a copy of the files that it reads.

const files = [
  ...['package.json', '.github', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md'],
  ...['docs/upgrading.md', 'docs/examples/README.md'],
];
const address = 'https://github.com/example/express-intents';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
});

const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(join(folder, file), change(textOf(file)));

/** Changes fields of package.json; `undefined` removes one. */
const setFields = (fields: object): void =>
  edit('package.json', (text) => JSON.stringify({ ...JSON.parse(text), ...fields }, null, 2));

function check(tag?: string): { readonly code: number | null; readonly lines: readonly string[] } {
  const env = { PATH: process.env.PATH, ...(tag && { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: tag }) };
  const args = [join(folder, '.github/release-check.mjs')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  expect(stderr).toBe('');
  return { code: status, lines: stdout.trim().split('\n') };
}

/** Does what the owner does before the release of 1.2.3. */
function fillIn(): void {
  setFields({
    version: '1.2.3',
    author: 'Example Ltd <npm@example.com>',
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: `${address}/issues`,
    homepage: `${address}#readme`,
  });
  edit('.github/ISSUE_TEMPLATE/config.yml', (text) => text.replace('/OWNER/', '/example/'));
  edit('CHANGELOG.md', (text) => text.replace(/^## /m, '## 1.2.3, 2027-01-31\n\nA version.\n\n## '));
  for (const page of files.filter((file) => file.endsWith('.md')))
    edit(page, (text) =>
      text.replace(/\[to\s+be\s+filled\s+in\s+by\s[^\]]+\]/g, 'filled').replace(/not\s+on\s+npm\s+yet/g, 'on npm'),
    );
}

const released = { code: 0, lines: ['Version 1.2.3 can be released.'] };

it('accepts a version whose blanks are filled', () => {
  fillIn();
  expect(check()).toEqual(released);
  expect(check('v1.2.3')).toEqual(released);
});

it('prints one line for each blank, with its file and an example', () => {
  setFields({ author: undefined, repository: undefined, bugs: undefined, homepage: undefined });
  edit(
    'SECURITY.md',
    () =>
      '[to be\nfilled in by the owner: the response time, such as a day] [to be filled in by the owner: a, such as b]',
  );
  edit(
    'CODE_OF_CONDUCT.md',
    () => 'Write to [to be filled in by the owner: the contact, such as conduct@example.com].',
  );
  const { code, lines } = check();
  expect(code).toBe(1);
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^package\.json: author .*Example: "author"/),
      expect.stringMatching(/^package\.json: repository .*Example: "repository"/),
      expect.stringMatching(/^package\.json: bugs .*Example: "bugs"/),
      expect.stringMatching(/^package\.json: homepage .*Example: "homepage"/),
      expect.stringMatching(/^\.github\/ISSUE_TEMPLATE\/config\.yml: the address .*Example: https:/),
      'SECURITY.md: the response time, such as a day is missing.',
      'SECURITY.md: a, such as b is missing.',
      'CODE_OF_CONDUCT.md: the contact, such as conduct@example.com is missing.',
    ]),
  );
});

it.each<[string, () => void, string | undefined, RegExp]>([
  ['an empty author', () => setFields({ author: '' }), undefined, /^package\.json: author /],
  [
    'a blank in a page of docs/',
    () => edit('docs/examples/README.md', (text) => `${text}[to be filled in by the owner: a]`),
    undefined,
    /^docs\/examples\/README\.md: a /,
  ],
  [
    'a page that says the package is not on npm yet',
    () => edit('docs/upgrading.md', (text) => `${text}not on\nnpm yet`),
    undefined,
    /^docs\/upgrading\.md: .*npm/,
  ],
  [
    'a version without an entry in the changelog',
    () => setFields({ version: '1.2.4' }),
    undefined,
    /^CHANGELOG\.md: 1\.2\.4 /,
  ],
  [
    'an unreleased version',
    () => edit('CHANGELOG.md', (text) => text.replace('2027-01-31', 'unreleased')),
    undefined,
    /^CHANGELOG\.md: 1\.2\.3 /,
  ],
  [
    'a tag of another version',
    () => undefined,
    'v1.2.2',
    /^package\.json: the version is 1\.2\.3, and the tag is v1\.2\.2/,
  ],
  ['a tag without v', () => undefined, '1.2.3', /^package\.json: .*tag is 1\.2\.3/],
])('rejects %s', (_fault, plant, tag, line) => {
  fillIn();
  plant();
  expect(check(tag)).toEqual({ code: 1, lines: [expect.stringMatching(line)] });
});
