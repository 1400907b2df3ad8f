/**
 * The URL of a file that is read at run time. The path is relative to `src/`, and in the package to `dist/`, where the build
 * writes the same pages and data.
 *
 * Only this module may derive a path from `import.meta.url`: all files of the built code are directly in `dist/`, so a path
 * relative to another module would differ between the sources and the package.
 */
export const packageFile = (path: string): URL => new URL(path, import.meta.url);
