import { requirePackage } from '../async/optional-package.js';
import type { Operation } from './envelope.js';

/** The gRPC package: an optional peer dependency, because few sites use gRPC. */
export type GrpcPackage = typeof import('@grpc/grpc-js');

/** Loads gRPC on demand. @throws {ConfigError} with the install command */
export async function loadGrpcPackage(): Promise<GrpcPackage> {
  requirePackage('@grpc/grpc-js');
  return import('@grpc/grpc-js');
}

/** The proto package of the interface (protocol section 5). */
export const defaultGrpcPackage = 'intents.v1';

/** The path of an operation over gRPC, such as `/intents.v1.MicroPayment/GetStatus` (interface section 4.2). */
export function grpcPath({ service, method }: Operation, fullService = `${defaultGrpcPackage}.${service}`): string {
  return `/${fullService}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}
