import { createRequire } from 'node:module';
import { ConfigError } from '../errors.js';

/** The package that speaks gRPC. Few sites do, so it is a peer dependency that may be missing. */
export type GrpcPackage = typeof import('@grpc/grpc-js');

/** Lets pass where gRPC can be loaded, without loading it. @throws {ConfigError} with how to install it */
export function requireGrpcPackage(): void {
  try {
    createRequire(import.meta.url).resolve('@grpc/grpc-js');
  } catch {
    throw missing();
  }
}

/** Loads gRPC; nothing else does. @throws {ConfigError} with how to install it */
export async function loadGrpcPackage(): Promise<GrpcPackage> {
  requireGrpcPackage();
  return import('@grpc/grpc-js');
}

function missing(): ConfigError {
  return new ConfigError([
    {
      setting: '@grpc/grpc-js',
      problem: 'gRPC needs this package, and it is missing.',
      mend: 'npm install @grpc/grpc-js',
    },
  ]);
}
