import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { apiPage, entries, reportOf, undocumented } from './api-report.js';

describe('the public API, as it is packed', () => {
  it('is that of docs/api.md', () => {
    const page = readFileSync('docs/api.md', 'utf8').split('\n');
    const now = apiPage().split('\n');
    const line = now.findIndex((text, n) => text !== page[n]);
    if (line < 0 && now.length === page.length) return;
    throw new Error(
      `The public API is no longer that of docs/api.md, from line ${line + 1} on: ${now[line]}\n` +
        'If that is meant: npm run api, read the difference, and say it in CHANGELOG.md.',
    );
  });

  it.each(Object.entries(entries))('%s has a docstring for every name and every member of it', (_entry, file) => {
    expect(undocumented(reportOf(file))).toEqual([]);
  });
});

describe('what a report is made of', () => {
  const folder = temporaryFolder();

  function report(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return reportOf(join(folder, 'index.d.ts'));
  }

  it('follows a name to where it is declared, also by another name, and shows what its types are made of', () => {
    const { names, behind, added } = report({
      'index.d.ts': `export { type A as B, make } from './a.js';\n`,
      'a.d.ts': [
        `import type { C } from './c.js';`,
        '/** Is C in a comment. */',
        'export interface A {\n    readonly c: C;\n}',
        'export declare function make(): A;\nexport declare function make(n: number): A;',
        'declare global {\n    interface Window {\n    }\n}\nexport {};',
      ].join('\n'),
      'c.d.ts': 'export interface C {\n}\nexport interface Unseen {\n}\n',
    });
    expect(names.map(({ name, text }) => [name, text.split('\n').length])).toEqual([
      ['A', 3],
      ['make', 2],
    ]);
    expect(behind.map(({ name }) => name)).toEqual(['C']);
    expect(added).toHaveLength(1);
  });

  it('knows what lacks a docstring: a name, a member, what is added to others; not what is inside of a member', () => {
    const found = report({
      'index.d.ts': [
        'export interface Bare {\n    readonly one: string;\n    /** Said. */\n    two(options: {\n        deep: string;\n    }): void;\n}',
        '/** Said. */\nexport declare class Box {\n    private inner;\n    /** Said. */\n    get size(): number;\n    open(): void;\n    constructor();\n}',
        '/** Said. */\nexport type Either = {\n    readonly left: string;\n} | {\n    left?: never;\n};',
        '/** Said. */\nexport declare function act(options: {\n    speed: number;\n}): void;',
        'declare global {\n    namespace Express {\n        interface Request {\n            payment: string;\n        }\n    }\n}',
      ].join('\n'),
    });
    expect(undocumented(found)).toEqual(['Bare', 'Bare.one', 'Box.open', 'Either.left', 'global.payment']);
  });

  it('leaves nothing out in silence', () => {
    expect(() => report({ 'index.d.ts': `export { gone } from './gone.js';\n` })).toThrow(/exports gone/);
  });
});
