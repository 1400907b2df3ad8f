import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, pack, root } from './consumer-project.js';

describe('package.json', () => {
  it('runs no script at installation', () => {
    const whenInstalled = /^(?:pre|post)?(?:install|prepare)$|^(?:pre|post)?uninstall$|^dependencies$|^prepublish$/;
    expect(Object.keys(manifest.scripts).filter((name) => whenInstalled.test(name))).toEqual([]);
    // npm runs node-gyp if this file exists.
    expect(existsSync(join(root, 'binding.gyp'))).toBe(false);
  });

  it('names only existing files as exports, types and command', () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    expect(targets).toHaveLength(11);
    for (const target of [...targets, ...Object.values(manifest.bin)]) {
      expect([target, existsSync(join(root, target))]).toEqual([target, true]);
    }
  });

  it('exports types before the code of each entry, since TypeScript uses the first match', () => {
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (entry !== './package.json') expect(Object.keys(target)).toEqual(['types', 'default']);
    }
  });

  it('lists the types of each entry in `typesVersions` too, for TypeScript 5 with `module: commonjs`', () => {
    const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
      typeof target === 'string' || entry === '.' ? [] : [[entry.slice(2), [target.types?.slice(2)]]],
    );
    expect(entries).toHaveLength(4);
    expect(manifest.typesVersions).toEqual({ '*': Object.fromEntries(entries) });
  });

  it('has a command with a shebang', () => {
    for (const target of Object.values(manifest.bin)) {
      expect(readFileSync(join(root, target), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
  });

  it('can be installed from any registry: the lockfile has no addresses', () => {
    const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Record<string, Record<string, unknown>> };
    const locked = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/'));
    expect(locked.length).toBeGreaterThan(100);
    const fetched = locked.filter(([, { link }]) => link !== true);
    expect(fetched.filter(([, entry]) => 'resolved' in entry)).toEqual([]);
    expect(fetched.filter(([, { integrity }]) => !String(integrity).startsWith('sha512-'))).toEqual([]);
  });

  it('can be installed on other systems: the lockfile has their optional packages, as `npm ci` requires', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(optional.length).toBeGreaterThan(20);
    const locked = Object.keys(packages);
    expect(optional.filter((name) => !locked.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([]);
  });

  it('has the same dependencies as the lockfile', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const { dependencies, devDependencies, peerDependencies } = manifest;
    expect(packages['']).toMatchObject({ dependencies, devDependencies, peerDependencies });
  });
});

describe('the tarball', () => {
  const allowed =
    /^(?:package\.json|LICENSE|(?:README|CHANGELOG|SECURITY)\.md|docs\/[\w-]+\.md|docs\/images\/[\w-]+\.webp|docs\/examples\/(?:[\w-]+\/)*[\w.@-]+|proto\/[\w-]+\.proto|dist\/(?:browser\/)?[\w-]+\.js(?:\.map)?|dist\/types\/(?:[\w-]+\/)*[\w-]+\.d\.ts|dist\/http\/operations\/openapi\.json|dist\/simulator\/page\/[\w-]+\.(?:html|css|js))$/;
  let paths: string[];

  beforeAll(async () => {
    paths = (await pack('--dry-run')).files.map(({ path }) => path);
  });

  it('contains only the build, the interface and the docs', () => {
    expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
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
    'dist/router.js.map',
    'dist/types/index.d.ts',
    'dist/cli.js',
    'dist/http/operations/openapi.json',
    'dist/types/browser/elements.d.ts',
    'dist/browser/elements.js',
    'dist/browser/react.js',
    'dist/types/browser/react.d.ts',
    'dist/browser/elements.js.map',
    'dist/browser/intent-dialog.js',
    'dist/browser/de.js',
    'dist/browser/portable-ed25519.js',
    'dist/simulator/page/wallet.html',
  ])('contains %s', (path) => {
    expect(paths).toContain(path);
  });

  it('has a source map with the sources for each file of code', () => {
    const maps = paths.filter((path) => path.endsWith('.js.map'));
    expect(maps.length).toBeGreaterThan(10);
    for (const path of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(root, path), 'utf8'));
      expect(sourcesContent).toHaveLength(sources.length);
      // Paths of the machine that built the package say nothing to a reader.
      expect(sources.filter((source: string) => !/^(?:\.\.\/)+(?:src|node_modules)\//.test(source))).toEqual([]);
    }
  });
});
