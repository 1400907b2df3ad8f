import protobuf from 'protobufjs';
import { submitPayment } from '../../src/wire/emulator-codec.js';
import { operations } from '../../src/wire/envelope.js';
import { grpcPath } from '../../src/wire/grpc.js';
import { reflect } from './reflection.js';

/** The paths that anybody makes of the services in the .proto files, and which of them are streams. */
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

it('the path of every operation is the one that its .proto file gives it, and there is none without (protocol 5)', () => {
  const ours = Object.entries(operations).map(([name, operation]) => [
    grpcPath(operation),
    name === 'openMessageStream' ? 'stream' : 'unary',
  ]);
  expect(pathsIn(reflect({ keepCase: true }))).toEqual({
    ...Object.fromEntries(ours),
    [grpcPath(submitPayment, 'intents.emulator.v1.Emulator')]: 'unary',
  });
});

it('has the method in PascalCase behind the full name of the service (protocol 5)', () => {
  expect(grpcPath(operations.getStatus)).toBe('/intents.v1.MicroPayment/GetStatus');
  expect(grpcPath(operations.getLoginForThirdPartyApp, 'acme.Users')).toBe('/acme.Users/GetLoginForThirdPartyApp');
});
