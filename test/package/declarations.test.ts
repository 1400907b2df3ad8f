// Not imported by name, because it is not TypeScript.
const { neededDeclarations } = (await import(new URL('../../src/declarations.mjs', import.meta.url).href)) as {
  neededDeclarations(entries: readonly string[], read: (file: string) => string): ReadonlyMap<string, string>;
};

const select = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(neededDeclarations(['/index.d.ts'], (file) => files[file] ?? ''));

describe('the packed declarations', () => {
  it('are those that the entry exports and those that these refer to', () => {
    const files = {
      '/index.d.ts': `export { type Site, start as open } from './site.js';\n`,
      '/site.d.ts': `import { type Internal, type Name as SiteName } from './names.js';
import type { Request } from 'express';
/** A site. */
export interface Site {
  /** Its name. */
  name: SiteName;
}
export declare function start(site: Site): void;
declare const hidden: Internal;
export declare function stop(request: Request): typeof hidden;
export {};
`,
      '/names.d.ts': `/** A name. */
export type Name = string;
export type Internal = number;
`,
    };
    expect(select(files)).toEqual({
      '/index.d.ts': files['/index.d.ts'],
      '/site.d.ts': `import { type Name as SiteName } from './names.js';
/** A site. */
export interface Site {
  /** Its name. */
  name: SiteName;
}
export declare function start(site: Site): void;
export {};
`,
      '/names.d.ts': 'export type Name = string;\n',
    });
  });

  it('include what a needed file adds to global types, and its imports', () => {
    const files = {
      '/index.d.ts': `export { login } from './login.js';\n`,
      '/login.d.ts': `import type { User } from './user.js';
declare global {
  interface Request {
    user: User;
  }
}
export declare function login(): void;
`,
      '/user.d.ts': 'export interface User {\n  id: string;\n}\n',
    };
    expect(select(files)).toEqual(files);
  });

  it('keep the comments of a file that the entry exports through another file', () => {
    const files = {
      '/index.d.ts': `export { type One } from './folder/index.js';\n`,
      '/folder/index.d.ts': `export { type One } from './one.js';\n`,
      '/folder/one.d.ts': '/** One. */\nexport type One = 1;\n',
    };
    expect(select(files)).toEqual(files);
  });

  it.each(['export * from "./all.js";', 'export default site;', `export type Site = import('./site.js').Site;`])(
    'are not written if a file has the unknown form %j',
    (form) => {
      expect(() => select({ '/index.d.ts': `${form}\n` })).toThrow('/index.d.ts has an unknown form');
    },
  );
});
