/** A file of src/, by its path from there on, with slashes: `keys/base58.ts`. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

export interface Import {
  readonly specifier: string;
  readonly how: 'static' | 'dynamic' | 'type';
}

export declare const computedImport: string;
export declare function readSources(): SourceFile[];
export declare function importsOf(file: SourceFile): readonly Import[];
export declare function resolveImport(from: string, specifier: string): string;
