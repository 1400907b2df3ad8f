import { createRequire } from 'node:module';
import { ConfigError } from '../errors.js';

/** The packages that a site installs only if it uses them, and what needs each. */
const neededFor = {
  pg: 'A ledger in Postgres',
  '@electric-sql/pglite': 'A ledger in a folder',
  '@grpc/grpc-js': 'gRPC',
  '@opentelemetry/api': 'OpenTelemetry',
} as const;

export type OptionalPackage = keyof typeof neededFor;

const require = createRequire(import.meta.url);

/** The file of the package; undefined if it is not installed. Does not load it. */
export function findPackage(name: OptionalPackage): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** Does nothing if the package is installed, and does not load it. @throws {ConfigError} with how to install it */
export function requirePackage(name: OptionalPackage): void {
  if (findPackage(name) !== undefined) return;
  const problem = `${neededFor[name]} needs this package, and it is missing.`;
  throw new ConfigError([{ setting: name, problem, fix: `npm install ${name}` }]);
}
