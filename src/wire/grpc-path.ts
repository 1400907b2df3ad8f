import type { Operation } from './envelope.js';

/** The proto package of the interface (protocol section 5). */
export const defaultGrpcPackage = 'intents.v1';

/**
 * The path of an operation over gRPC, such as `/intents.v1.MicroPayment/GetStatus` (interface section 4.2).
 * @param fullService by default the service of the operation in the package of the interface
 */
export function grpcPath({ service, method }: Operation, fullService = `${defaultGrpcPackage}.${service}`): string {
  return `/${fullService}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}
