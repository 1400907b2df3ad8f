import { IntentError } from '../../errors.js';
import { nameOf, type Operation, operations } from '../../wire/envelope.js';
import { defaultGrpcPackage, grpcPath } from '../../wire/grpc.js';

type Operations = (typeof operations)[keyof typeof operations];

/** The name of a service in the interface, such as `MicroPayment`. */
export type ServiceName = Operations['service'];

/** The name of an operation in the interface, such as `MicroPayment.getStatus`. */
export type OperationName = {
  [Name in keyof typeof operations]: `${(typeof operations)[Name]['service']}.${(typeof operations)[Name]['method']}`;
}[keyof typeof operations];

/** The gRPC names of the operations, which the interface does not define (section 4.2). */
export interface GrpcNames {
  /**
   * The proto package of all services, such as `acme.pay.v2`, or the full names of services and the paths of
   * operations: `{ Messaging: 'acme.messaging.v1.Messaging', 'Intents.createIntent': '/acme.pay.v2.Payments/Request' }`.
   * A path takes precedence over a service. The default package is `intents.v1`, as in
   * `/intents.v1.MicroPayment/GetStatus`.
   */
  readonly grpcNames?: string | Readonly<Partial<Record<ServiceName | OperationName, string>>> | undefined;
}

const services: ReadonlySet<string> = new Set(Object.values(operations).map(({ service }) => service));
const known: ReadonlySet<string> = new Set([...services, ...Object.values(operations).map(nameOf)]);

const dottedName = /^\w+(?:\.\w+)*$/;
const wholePath = /^\/\w+(?:\.\w+)*\/\w+$/;

/** Checks the names. @returns the path of each operation @throws {IntentError} `invalid_configuration` */
export function parseGrpcNames({ grpcNames = defaultGrpcPackage }: GrpcNames): (operation: Operation) => string {
  if (typeof grpcNames === 'string') {
    if (!dottedName.test(grpcNames)) throw invalid('it must be the name of a proto package, such as intents.v1.');
    return (operation) => grpcPath(operation, `${grpcNames}.${operation.service}`);
  }
  for (const [name, value] of Object.entries(grpcNames)) {
    if (!known.has(name)) throw invalid(`${name} is unknown. Use one of ${[...known].join(', ')}.`);
    const isService = services.has(name);
    const form = isService ? dottedName : wholePath;
    const example = isService ? `intents.v1.${name}` : '/intents.v1.Intents/CreateIntent';
    if (typeof value !== 'string' || !form.test(value)) throw invalid(`${name} must look like ${example}.`);
  }
  const names = new Map(Object.entries(grpcNames));
  return (operation) => names.get(nameOf(operation)) ?? grpcPath(operation, names.get(operation.service));
}

const invalid = (problem: string): IntentError => new IntentError('invalid_configuration', `grpcNames: ${problem}`);
