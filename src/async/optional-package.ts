import { createRequire } from 'node:module';
import { ConfigError } from '../errors.js';

const neededFor = {
  pg: 'A ledger in Postgres',
  '@electric-sql/pglite': 'A ledger in a folder',
  '@grpc/grpc-js': 'gRPC',
  '@opentelemetry/api': 'OpenTelemetry',
} as const;

export type OptionalPackage = keyof typeof neededFor;

const require = createRequire(import.meta.url);

/** The file of a package, without loading it; undefined if it is not installed. */
export function findPackage(name: OptionalPackage): string | undefined {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** Checks that a package is installed, without loading it. @throws {ConfigError} with the install command */
export function requirePackage(name: OptionalPackage): void {
  if (findPackage(name) !== undefined) return;
  const problem = `${neededFor[name]} requires this package. It is not installed.`;
  throw new ConfigError([{ setting: name, problem, fix: `npm install ${name}` }]);
}
