import type { Operation } from './envelope.js';

/** The proto package of the interface (protocol section 5). */
export const defaultGrpcPackage = 'intents.v1';

/** The path of an operation over gRPC, such as `/intents.v1.MicroPayment/GetStatus` (interface section 4.2). */
export function grpcPath({ service, method }: Operation, grpcPackage: string = defaultGrpcPackage): string {
  return `/${grpcPackage}.${inPascalCase(service)}/${inPascalCase(method)}`;
}

function inPascalCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
