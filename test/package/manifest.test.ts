import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, pack, root } from './consumer-project.js';

describe('package.json', () => {
  it('runs nothing when it is installed', () => {
    const whenInstalled = /^(?:pre|post)?(?:install|prepare)$|^(?:pre|post)?uninstall$|^dependencies$|^prepublish$/;
    expect(Object.keys(manifest.scripts).filter((name) => whenInstalled.test(name))).toEqual([]);
    // npm runs node-gyp of itself where there is such a file.
    expect(existsSync(join(root, 'binding.gyp'))).toBe(false);
  });

  it('names only files that are there: exports, types, and the command', () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    expect(targets).toHaveLength(9);
    for (const target of [...targets, ...Object.values(manifest.bin)]) {
      expect([target, existsSync(join(root, target))]).toEqual([target, true]);
    }
  });

  it('exports types with every entry, and before the code, as TypeScript looks for them in order', () => {
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (entry !== './package.json') expect(Object.keys(target)).toEqual(['types', 'default']);
    }
  });

  it('has a command that a shell can start', () => {
    for (const target of Object.values(manifest.bin)) {
      expect(readFileSync(join(root, target), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
  });

  it('is installed from wherever the registry is: the lockfile names no address', () => {
    const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Record<string, Record<string, unknown>> };
    const locked = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'));
    expect(locked.length).toBeGreaterThan(100);
    expect(locked.filter(([, entry]) => 'resolved' in entry)).toEqual([]);
    expect(locked.filter(([, { integrity }]) => !String(integrity).startsWith('sha512-'))).toEqual([]);
  });

  it('can be installed on other systems: the lockfile has what is optional there, so that `npm ci` accepts it', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(optional.length).toBeGreaterThan(20);
    const locked = Object.keys(packages);
    expect(optional.filter((name) => !locked.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([]);
  });

  it('has a lockfile that locks what it asks for', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const { dependencies, devDependencies, peerDependencies } = manifest;
    expect(packages['']).toMatchObject({ dependencies, devDependencies, peerDependencies });
  });
});

describe('the tarball', () => {
  const allowed =
    /^(?:package\.json|LICENSE|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|docs\/[\w-]+\.md|docs\/images\/[\w-]+\.webp|docs\/examples\/(?:[\w-]+\/)+[\w.-]+|proto\/[\w-]+\.proto|dist\/(?:[\w-]+\/)*[\w-]+(?:\.js|\.d\.ts)|dist\/http\/operations\/openapi\.json|dist\/emulator\/page\/[\w-]+\.(?:html|css|js))$/;
  let paths: string[];

  beforeAll(async () => {
    paths = (await pack('--dry-run')).files.map(({ path }) => path);
  });

  it('holds what is built, the interface and what there is to read, and nothing else', () => {
    expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
  });

  it('holds no tests, sources, maps, settings or secrets', () => {
    // Said twice on purpose: the list of what is allowed may grow.
    const unwanted =
      /(?:^|\/)(?:src|test|bench|example-app|coverage|node_modules)\/|\.map$|\.env|\.test\.|(?<!\.d)\.ts$|\.pem$|\.key$/;
    // The examples of the guides are whole projects: of these the sources are what there is to read.
    const ours = paths.filter((path) => !path.startsWith('docs/examples/'));
    expect(ours.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it.each([
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'SECURITY.md',
    'docs/getting-started.md',
    'docs/examples/first-site/app.js',
    'package.json',
    'proto/intents.proto',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/cli/main.js',
    'dist/wire/generated/intents.d.ts',
    'dist/http/operations/openapi.json',
    'dist/browser/elements.d.ts',
    'dist/browser/built/elements.js',
    'dist/browser/built/ask-user.js',
    'dist/browser/built/portable-ed25519.js',
    'dist/emulator/page/wallet.html',
  ])('holds %s', (path) => {
    expect(paths).toContain(path);
  });

  // The code of several modules is joined into one file; of it the types tell, and supply-chain.test.ts.
  it('holds nothing whose source is gone', () => {
    const orphans = paths.filter((path) => {
      if (!path.startsWith('dist/') || /^dist\/(?:cli\/)?[\w-]+\.js$/.test(path)) return false;
      const source = join(root, path.replace(/^dist/, 'src'));
      return !existsSync(source) && !existsSync(source.replace(/(?:\.d\.ts|\.js)$/, '.ts'));
    });
    expect(orphans).toEqual([]);
  });
});
