import { IntentError } from '../errors.js';
import { nameOf, type Operation, operations } from '../wire/envelope.js';
import { defaultGrpcPackage, grpcPath } from '../wire/grpc-path.js';

/** An operation by its names in the interface, such as `MicroPayment.getStatus`. */
export type OperationName = {
  [Name in keyof typeof operations]: `${(typeof operations)[Name]['service']}.${(typeof operations)[Name]['method']}`;
}[keyof typeof operations];

/** What the operations are called over gRPC, which the interface leaves open (section 4.2). */
export interface GrpcNames {
  /** The proto package. Default `intents.v1`, for `/intents.v1.MicroPayment/GetStatus`. */
  readonly grpcPackage?: string | undefined;
  /** Whole paths of operations that have other names, such as `{ 'MicroPayment.getStatus': '/acme.Pay/Status' }`. */
  readonly grpcPaths?: Readonly<Partial<Record<OperationName, string>>> | undefined;
}

const known: ReadonlySet<string> = new Set(Object.values(operations).map(nameOf));

/** Checks the names; gives the path of each operation. @throws {IntentError} `invalid_configuration` */
export function parseGrpcNames({
  grpcPackage = defaultGrpcPackage,
  grpcPaths = {},
}: GrpcNames): (operation: Operation) => string {
  if (!/^\w+(?:\.\w+)*$/.test(grpcPackage)) {
    throw new IntentError('invalid_configuration', 'grpcPackage must be the name of a package, such as intents.v1.');
  }
  for (const [name, path] of Object.entries(grpcPaths)) {
    if (!known.has(name)) {
      const names = [...known].join(', ');
      throw new IntentError('invalid_configuration', `grpcPaths: there is no operation ${name}. Known: ${names}.`);
    }
    if (typeof path !== 'string' || !/^\/\w+(?:\.\w+)*\/\w+$/.test(path)) {
      throw new IntentError('invalid_configuration', `grpcPaths: ${name} must look like /intents.v1.Intents/Create.`);
    }
  }
  const paths = new Map(Object.entries(grpcPaths));
  return (operation) => paths.get(nameOf(operation)) ?? grpcPath(operation, grpcPackage);
}
