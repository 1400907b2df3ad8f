import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSources } from './support/source-files.mjs';

// The npm scripts run in cmd.exe too, and src/ and the example shop call nothing that only Unix has. Each rule must find the
// faults planted below. The tests themselves, bench/ and the examples of deployments need Unix.

const root = fileURLToPath(new URL('..', import.meta.url));

// ---- npm scripts ----

/** Commands that npm installs on every system. Others, such as `rm` or `./run.sh`, need a shell of Unix. */
const portableCommands = ['node', 'npm', 'npx', 'tsc', 'biome', 'rolldown', 'vite', 'vitest', 'jest', 'tsx'];

/** The longest command line of cmd.exe. */
const maxScriptLength = 8_191;

/** The faults of an npm script. Both shells know `&&` and double quotes, which protect everything except the listed characters. */
function faultsOfScript(script: string): string[] {
  const faults: string[] = [];
  if (script.length > maxScriptLength) faults.push('it is too long for cmd.exe');
  if (/\\"/.test(script)) faults.push('cmd.exe knows no escaped quote');
  const [character] = /[$%^`\n]/.exec(script) ?? [];
  if (character) faults.push(`a shell replaces ${JSON.stringify(character)}`);
  const outside = script.replace(/"[^"]*"/g, '""');
  const [syntax] = /[';*?<>|(){}!~]|\[|(?<!&)&(?!&)|&&&/.exec(outside) ?? [];
  if (syntax) faults.push(`the shells differ in ${syntax}`);
  for (const command of outside.split('&&')) {
    const [first = ''] = command.trim().split(/\s/);
    if (!portableCommands.includes(first)) faults.push(`${first || 'an empty command'} is no command of npm`);
  }
  return faults;
}

/** The package.json files of the project and of its examples, without installed packages. */
function scriptsOfProject(): (readonly [name: string, script: string])[] {
  const examples = readdirSync(path.join(root, 'docs/examples'), { recursive: true, encoding: 'utf8' });
  const files = examples.filter((file) => path.basename(file) === 'package.json' && !/node_modules/.test(file));
  return ['package.json', ...files.map((file) => path.join('docs/examples', file))].flatMap((file) => {
    const { scripts = {} } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as {
      scripts?: Record<string, string>;
    };
    return Object.entries(scripts).map(([name, script]) => [`${file}: ${name}`, script] as const);
  });
}

describe('npm scripts run in sh and in cmd.exe', () => {
  it('as do all of the project and of its examples', () => {
    const scripts = scriptsOfProject();
    expect(scripts.length).toBeGreaterThan(40);
    expect(scripts.flatMap(([name, script]) => faultsOfScript(script).map((fault) => `${name}: ${fault}`))).toEqual([]);
  });

  it.each([
    'NODE_ENV=test node a.js',
    `node -e 'console.log(1)'`,
    'node a.js & node b.js',
    'node --test test/*.js',
    'node "$npm_package_main"',
    'node -e "console.log(\\"a\\")"',
    'rm -rf dist',
    './run.sh',
    `node ${'a'.repeat(9_000)}`,
  ])('the check finds the fault of %s', (script) => expect(faultsOfScript(script)).not.toEqual([]));

  it.each([
    'node a.js --name="[.](full|nginx)[.]test"',
    `node -e "for(const d of['a'])fs.rmSync(d,{recursive:true});"`,
    'npm run -s a && tsc -p b',
  ])('the check accepts %s', (script) => expect(faultsOfScript(script)).toEqual([]));
});

// ---- Sources ----

interface Rule {
  readonly pattern: RegExp;
  readonly reason: string;
  /** Files in which it is right, each with the reason. */
  readonly exceptions?: Readonly<Record<string, string>>;
  /** A text in which the pattern must be found. */
  readonly faulty: string;
}

const rules: readonly Rule[] = [
  {
    pattern: /new URL\([^)]*\)\.pathname|\{ pathname \} = new URL\(/g,
    reason: 'The path of a file URL starts with /C: on Windows. Use fileURLToPath',
    exceptions: {
      'browser/site-config.ts': 'a URL in a browser',
      'browser/flow/api.ts': 'a URL in a browser',
      'errors.ts': 'compared with the URLs of a stack',
    },
    faulty: `const file = new URL('./a', import.meta.url).pathname;`,
  },
  {
    pattern: /['"`]\/(?:tmp|dev|proc|etc|var|usr|home|bin)(?:\/|['"`])/g,
    reason: 'Windows has no such folder. Use os.tmpdir() or a setting',
    faulty: `open('/tmp/a')`,
  },
  {
    pattern: /['"](?:node:)?child_process['"]/g,
    reason: 'The programs of other systems have other names, and npm is a batch file on Windows',
    faulty: `import { spawn } from 'node:child_process';`,
  },
  {
    pattern: /SIG(?:HUP|QUIT|USR[12]|STOP|CONT|PIPE|CHLD|WINCH|ALRM)\b/g,
    reason: 'Windows has no such signal',
    faulty: `process.on('SIGHUP', reload)`,
  },
  {
    pattern: /process\.(?:kill|(?:set|get)e?[ug]id|umask|initgroups|(?:get|set)groups)\b/g,
    reason: 'It does not exist or means something else on Windows',
    exceptions: { 'simulator/state/state-owner.ts': 'signal 0 only tests whether the process exists, also on Windows' },
    faulty: 'process.kill(pid, 0)',
  },
  {
    pattern: /\b(?:l|f)?ch(?:mod|own)(?:Sync)?\(|\b(?:symlink|f(?:data)?sync)(?:Sync)?\(/g,
    reason: 'Windows has no modes and owners, allows links to administrators only, and cannot sync a folder',
    faulty: 'chmodSync(file, 0o600)',
  },
  {
    pattern: /\blisten\(\{ path\b|\.sock['"`]/g,
    reason: 'Windows has no sockets in folders',
    exceptions: { 'ledger/database/embedded/folder-lock.ts': 'it uses a named pipe on Windows' },
    faulty: 'server.listen({ path: file })',
  },
  {
    pattern: /\bimport\((?:path|file)\b|\bimport\(require\.resolve/g,
    reason: 'A path of Windows is no specifier. Use pathToFileURL',
    faulty: 'await import(path.join(folder, name))',
  },
  {
    pattern: /(?<!const relativePath = \(from, to\) => )\bpath\.relative\(/g,
    reason: 'It has backslashes on Windows. Write why that is right here',
    exceptions: { 'ledger/database/embedded/folder-lock.ts': 'the path of a Unix socket' },
    faulty: `if (path.relative(root, file) === 'a/b')`,
  },
];

interface Source {
  readonly name: string;
  readonly text: string;
}

const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');

const exampleShop = (): Source[] =>
  readdirSync(path.join(root, 'example-app/src'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      name: `example-app/${name}`,
      text: readFileSync(path.join(root, 'example-app/src', name), 'utf8'),
    }));

const isExcepted = ({ exceptions = {} }: Rule, file: string): boolean => Object.hasOwn(exceptions, file);

const faultsOf = (rule: Rule, { text }: Source): string[] =>
  [...withoutComments(text).matchAll(rule.pattern)].map(([found]) => `${found}: ${rule.reason}`);

/** A program that ends on SIGTERM must also end on SIGINT, the only signal that Ctrl-C sends on Windows. */
const lacksInterrupt = ({ text }: Source): boolean => /'SIGTERM'/.test(text) && !/'SIGINT'/.test(text);

describe.each(rules)('$pattern', (rule) => {
  const sources = [...readSources(), ...exampleShop()];

  it('is in no source', () => {
    const faults = sources
      .filter(({ name }) => !isExcepted(rule, name))
      .flatMap((source) => faultsOf(rule, source).map((fault) => `${source.name}: ${fault}`));
    expect(faults).toEqual([]);
  });

  it('is found in a planted fault', () => expect(faultsOf(rule, { name: 'a.ts', text: rule.faulty })).toHaveLength(1));
});

it('every source that listens for SIGTERM listens for SIGINT', () => {
  const sources = [...readSources(), ...exampleShop()];
  expect(sources.filter(lacksInterrupt).map(({ name }) => name)).toEqual([]);
  expect(lacksInterrupt({ name: 'a.ts', text: `process.once('SIGTERM', close)` })).toBe(true);
});

it('every import has the case of the name of its file, which Windows and macOS do not check', () => {
  const names = new Set(readSources().map(({ name }) => name));
  const imports = [...readSources()].flatMap(({ name, text }) =>
    [...text.matchAll(/(?:from|import\() ?'(\.[^']+)\.js'/g)].map(([, specifier = '']) =>
      path.posix.join(path.posix.dirname(name), specifier),
    ),
  );
  const isGenerated = (name: string): boolean => name.startsWith('wire/generated/');
  expect(imports.length).toBeGreaterThan(300);
  expect(
    imports.filter(
      (name) => !isGenerated(name) && !['.ts', '.js', '.mjs', '.d.ts'].some((end) => names.has(name + end)),
    ),
  ).toEqual([]);
});

it('Git writes the line endings of Unix on every system, which the linter and the snapshots require', () => {
  expect(readFileSync(path.join(root, '.gitattributes'), 'utf8')).toMatch(/^\* text=auto eol=lf$/m);
});
