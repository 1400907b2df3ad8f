import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { manifest, pack, root } from './consumer-project.js';

// The packages that a site installs with this one, and all files of the tarball.

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly deprecated?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Locked>>;
};

/** The path in the lockfile of the package that `from` resolves for `name`: the nearest one, as in Node. */
function resolve(name: string, from: string): string {
  const steps = from.split('/node_modules/');
  for (let n = steps.length; n >= 0; n -= 1) {
    const path = [...steps.slice(0, n), name].join('/node_modules/').replace(/^(?!node_modules\/)/, 'node_modules/');
    if (locked[path]) return path;
  }
  throw new Error(`${from} asks for ${name}, and the lockfile has none.`);
}

/** All packages that are installed with this one, without peer dependencies. */
function productionTree(): string[] {
  const found = new Set<string>();
  const waiting = Object.keys(manifest.dependencies).map((name) => resolve(name, ''));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    const { dependencies, optionalDependencies } = locked[path] ?? {};
    const from = path;
    waiting.push(...Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => resolve(name, from)));
  }
  return [...found].sort();
}

const tree = productionTree();
const entries = tree.map((path) => [path, locked[path] as Locked] as const);

describe('the packages that are installed with this one', () => {
  it('are exactly these', () => {
    expect(tree.map((path) => path.replace(/^node_modules\//, ''))).toEqual([
      'base-x',
      'bs58',
      'commander',
      'cookie',
      'debug',
      'express-rate-limit',
      'helmet',
      'ip-address',
      'ipaddr.js',
      'jose',
      'long',
      'ms',
      'protobufjs',
      'tldts',
      'tldts-core',
      'tweetnacl',
      'undici',
      'ws',
      'zod',
    ]);
  });

  it('run no script at installation', () => {
    expect(entries.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
    const scripts = tree.flatMap((path) => {
      const own = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as typeof manifest;
      const isNative = existsSync(join(root, path, 'binding.gyp'));
      const names = Object.keys(own.scripts ?? {}).filter((name) => /^(?:pre|post)?install$/.test(name));
      return [...names, ...(isNative ? ['binding.gyp'] : [])].map((name) => `${path}: ${name}`);
    });
    expect(scripts).toEqual([]);
  });

  it('have permissive licenses, and none is deprecated', () => {
    const licences = new Set(entries.map(([, { license }]) => license));
    expect([...licences].sort()).toEqual(['Apache-2.0', 'BSD-3-Clause', 'MIT', 'Unlicense']);
    expect(entries.filter(([, { deprecated }]) => deprecated)).toEqual([]);
  });

  it('come from a registry by version, not from a URL, repository or folder', () => {
    const ranges = entries.flatMap(([, { dependencies }]) =>
      Object.values({ ...manifest.dependencies, ...dependencies }),
    );
    expect(ranges.filter((range) => !/^[\^~>=<*\d.x\s|-]+$/.test(range))).toEqual([]);
  });
});

/** All files below a folder of this repository, relative to it. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, folder).length + 1))
    .sort();
}

/** The built files of a source besides the code. The browser has a separate build, whose types are allowed below. */
function builtFrom(source: string): string[] {
  if (/\.d\.ts$|^browser\/(?!built\/)|^wire\/generated\/|\.mjs$/.test(source)) return [];
  return [`dist/${source.replace(/\.ts$/, '.d.ts')}`];
}

describe('the files in the tarball', () => {
  let paths: string[];
  let code: string[];

  beforeAll(async () => {
    paths = (await pack('--dry-run')).files.map(({ path }) => path);
    code = paths.filter((path) => /^dist\/(?:cli\/)?[\w-]+\.js$/.test(path));
  });

  it('are built from the sources, plus this list', () => {
    const ofSources = filesIn('src').flatMap(builtFrom);
    const isOfBrowser = (path: string): boolean => path.startsWith('dist/browser/') && path.endsWith('.d.ts');
    const toRead = filesIn('docs')
      .map((name) => `docs/${name}`)
      .filter((name) => name !== 'docs/architecture.md');
    const known = [...ofSources, ...code, ...toRead];
    expect(paths.filter((path) => !known.includes(path) && !isOfBrowser(path)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'package.json',
      'proto/intents.proto',
    ]);
    const pages = ofSources.filter((path) => !path.endsWith('.d.ts'));
    expect([...pages, ...toRead].filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('have the declarations of the entries and their imports, and no others', () => {
    const importsOf = (path: string): string[] =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g)].map(
        ([, name = '']) => `${posix.join(posix.dirname(path), name)}.d.ts`,
      );
    const needed = new Set(['index', 'client', 'testing', 'browser/elements'].map((name) => `dist/${name}.d.ts`));
    for (const path of needed) for (const imported of importsOf(path)) needed.add(imported);
    expect(paths.filter((path) => /^dist\/.*\.d\.ts$/.test(path)).sort()).toEqual([...needed].sort());
  });

  it('have the code of each own module exactly once, and of no package', () => {
    const text = readFileSync(join(root, 'build/bundles.json'), 'utf8');
    const bundles: Readonly<Record<string, readonly string[]>> = JSON.parse(text);
    expect(Object.keys(bundles).sort()).toEqual(code.sort());
    const modules = Object.values(bundles).flat();
    const sources = modules.map((name) => `src/${name}`);
    const isOurs = (path: string): boolean => existsSync(join(root, path.replace(/\.js$/, '.ts')));
    expect(sources.filter((path) => !isOurs(path) && !path.startsWith('src/wire/generated/'))).toEqual([]);
    expect(sources.length).toBeGreaterThan(200);
    expect(new Set(modules).size).toBe(modules.length);
  });

  it('are all loaded: each is an entry or imported by another', () => {
    const entries = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
      .map((entry) => (typeof entry === 'string' ? entry : (entry.default ?? '')))
      .map((entry) => entry.replace(/^\.\//, ''));
    const text = code.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
    expect(code.filter((path) => !entries.includes(path) && !text.includes(`/${path.slice(5)}"`))).toEqual([]);
  });
});
