import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { manifest, pack, root } from './consumer-project.js';

// The packages that a site installs with this one, and the modules in the built code.

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

describe('the code in the tarball', () => {
  let code: string[];

  beforeAll(async () => {
    const paths = (await pack('--dry-run')).files.map(({ path }) => path);
    code = paths.filter((path) => path.endsWith('.js') && /^dist\/[^/]+$/.test(path));
  });

  /** The modules in a built file, from its source map. A file that only exports from others has no map. */
  function modulesIn(path: string): string[] {
    const map = join(root, `${path}.map`);
    if (!existsSync(map)) return [];
    const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] };
    return sources.map((source) => posix.join(posix.dirname(path), source));
  }

  it('is each own module exactly once, and no package', () => {
    const modules = code.flatMap(modulesIn);
    expect(modules.filter((path) => !path.startsWith('src/'))).toEqual([]);
    expect(modules.length).toBeGreaterThan(200);
    expect(new Set(modules).size).toBe(modules.length);
  });

  it('is all loaded: each file is an entry or imported by another', () => {
    const entries = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
      .map((entry) => (typeof entry === 'string' ? entry : (entry.default ?? '')))
      .map((entry) => entry.replace(/^\.\//, ''));
    const text = code.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
    expect(code.filter((path) => !entries.includes(path) && !text.includes(`"./${path.slice(5)}"`))).toEqual([]);
  });
});
