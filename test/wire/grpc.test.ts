import protobuf from 'protobufjs';
import { operations } from '../../src/wire/envelope.js';
import { grpcPath } from '../../src/wire/grpc.js';
import { submitPayment } from '../../src/wire/simulator-codec.js';
import { reflect } from './reflection.js';

/** The paths of the services in the .proto files, and whether they are streams. */
function pathsIn(root: protobuf.NamespaceBase): Record<string, 'stream' | 'unary'> {
  return Object.fromEntries(
    root.nestedArray.flatMap((nested) => {
      if (nested instanceof protobuf.Service) {
        const name = nested.fullName.slice(1);
        return nested.methodsArray.map((method) => [
          `/${name}/${method.name}`,
          method.responseStream ? 'stream' : 'unary',
        ]);
      }
      return nested instanceof protobuf.Namespace ? Object.entries(pathsIn(nested)) : [];
    }),
  );
}

it('the gRPC path of every operation is that of its .proto file, and an unknown operation has none (protocol 5)', () => {
  const ours = Object.entries(operations).map(([name, operation]) => [
    grpcPath(operation),
    name === 'openMessageStream' ? 'stream' : 'unary',
  ]);
  expect(pathsIn(reflect({ keepCase: true }))).toEqual({
    ...Object.fromEntries(ours),
    [grpcPath(submitPayment, 'intents.simulator.v1.Simulator')]: 'unary',
  });
});
