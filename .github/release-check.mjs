// `npm run release:check`: lists what only the owner of the project can fill in, and what a release needs. Exits with 1 until
// nothing is left. On a tag, the tag must be the version. Needs no installed package.
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const read = (file) => readFileSync(new URL(file, root), 'utf8');
const namesIn = (folder, options) =>
  readdirSync(new URL(folder, root), { encoding: 'utf8', ...options }).map(
    (name) => folder + name.replaceAll('\\', '/'),
  );
const names = [...namesIn('./'), ...namesIn('./.github/'), ...namesIn('./docs/', { recursive: true })];
const pages = names.map((name) => name.slice(2)).filter((name) => /\.md$/.test(name) && !name.includes('node_modules'));
const manifest = JSON.parse(read('package.json'));
const missing = [];
const report = (file, what) => missing.push(`${file}: ${what}`);

const address = 'https://github.com/OWNER/express-intents';
const examples = {
  author: '"author": "Example Ltd <npm@example.com>"',
  repository: `"repository": { "type": "git", "url": "git+${address}.git" }`,
  bugs: `"bugs": "${address}/issues"`,
  homepage: `"homepage": "${address}#readme"`,
};
for (const [field, example] of Object.entries(examples)) {
  if (!manifest[field]) report('package.json', `${field} is missing. Example: ${example}`);
}
if (read('.github/ISSUE_TEMPLATE/config.yml').includes('/OWNER/'))
  report(
    '.github/ISSUE_TEMPLATE/config.yml',
    `the address of the repository is missing. Example: ${address}/security/policy`,
  );

for (const page of pages) {
  const text = read(page);
  // A blank can span lines. Its text says what to write, and ends with an example.
  for (const [, blank] of text.matchAll(/\[to\s+be\s+filled\s+in\s+by\s+the\s+owner:\s+([^\]]+)\]/g))
    report(page, `${blank.replace(/\s+/g, ' ')} is missing.`);
  if (/not\s+on\s+npm\s+yet/.test(text))
    report(page, 'it says that the package is not on npm yet. Example: npm install express-intents');
}

const { version } = manifest;
const entry = read('CHANGELOG.md')
  .split('\n')
  .find((line) => line.startsWith(`## ${version},`));
if (!/, \d{4}-\d{2}-\d{2}$/.test(entry ?? ''))
  report(
    'CHANGELOG.md',
    `${version} has no entry with a date. Example: ## ${version}, ${new Date().toISOString().slice(0, 10)}`,
  );

const { GITHUB_REF_TYPE, GITHUB_REF_NAME } = process.env;
if (GITHUB_REF_TYPE === 'tag' && GITHUB_REF_NAME !== `v${version}`)
  report('package.json', `the version is ${version}, and the tag is ${GITHUB_REF_NAME}. Example: git tag v${version}`);

for (const line of missing) console.log(line);
if (missing.length > 0) process.exitCode = 1;
else console.log(`Version ${version} can be released.`);
