import protobuf from 'protobufjs';
import { decode, v1 } from '../../src/wire/codec.js';
import { operations } from '../../src/wire/envelope.js';
import { contract, operationContract } from './contract.js';
import { codecs, filledExamples, reflect } from './reflection.js';

const written = reflect({ keepCase: true }).lookup('intents.v1') as protobuf.Namespace;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const typeNames = (namespace: protobuf.Namespace): string[] =>
  namespace.nestedArray.filter((nested) => nested instanceof protobuf.Type).map(({ name }) => name);

function describeField(field: protobuf.Field): string {
  const oneof = field.partOf ? `${field.partOf.name}/` : '';
  return `${oneof}${field.name} ${field.repeated ? 'repeated ' : ''}${field.type} ${field.id}`;
}

describe('proto/intents.proto against the documents (interface 2.1 to 2.6, protocol 3 and 5)', () => {
  test('has the messages of the documents and no others', () => {
    expect(typeNames(written).sort()).toEqual(Object.keys(contract).sort());
  });

  test.each(Object.entries(contract))(
    'has exactly the names, types and numbers of %s',
    (name, { fields, enums = {} }) => {
      const type = written.lookupType(name);
      expect(type.fieldsArray.map(describeField).sort()).toEqual([...fields].sort());
      const nested = type.nestedArray.map((each) => [each.name, (each as protobuf.Enum).values]);
      expect(Object.fromEntries(nested)).toEqual(enums);
    },
  );

  test('has the services of interface 4.1 and 4.2, in PascalCase', () => {
    const found = written.nestedArray
      .filter((nested) => nested instanceof protobuf.Service)
      .flatMap((service) =>
        service.methodsArray.map(({ name, requestType, responseType, requestStream, responseStream }) => [
          service.name,
          name,
          `${requestStream ? 'stream ' : ''}${requestType}`,
          `${responseStream ? 'stream ' : ''}${responseType}`,
        ]),
      );
    const expected = operationContract.map(([service, method, request, response]) => [
      service,
      method.charAt(0).toUpperCase() + method.slice(1),
      request,
      response,
    ]);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('has every operation of the envelope, in camelCase (interface 4.1)', () => {
    const known = operationContract.map(([service, method]) => `${service}.${method}`);
    for (const [name, { service, method }] of Object.entries(operations)) {
      expect(known).toContain(`${service}.${method}`);
      expect(method).toBe(name);
    }
  });
});

describe('the generated codecs', () => {
  const root = reflect({ keepCase: false });
  const all = [...codecs];

  test('exist for every message', () => {
    const names = ['intents.v1', 'intents.simulator.v1'].flatMap((namespace) =>
      typeNames(root.lookup(namespace) as protobuf.Namespace).map((name) => `${namespace}.${name}`),
    );
    expect([...codecs.keys()].sort()).toEqual(names.sort());
  });

  test.each(all)('read and write %s as reflection does', (name, codec) => {
    const type = root.lookupType(name);
    const plain = (message: object): object =>
      type.toObject(type.fromObject(message), { longs: String, bytes: String });
    for (const example of filledExamples(type)) {
      const byReflection = type.encode(type.create(example)).finish();
      const byCodec = codec.encode(example).finish();
      expect(hex(byCodec)).toBe(hex(byReflection));
      expect(plain(codec.decode(byReflection))).toEqual(plain(example));
      expect(plain(type.decode(byCodec))).toEqual(plain(example));
    }
  });

  test('keep only the last member of a oneof (interface 2.3, 2.4)', () => {
    const { exact, partial } = decode(v1.RequestToReceiveBill, Uint8Array.of(0x12, 0, 0x1a, 0));
    expect([exact, partial?.currency]).toEqual([null, '']);
    const { requestToReceiveBill, codeScanned } = decode(v1.Message, Uint8Array.of(0x32, 0, 0x2a, 0));
    expect([codeScanned, requestToReceiveBill?.domain]).toEqual([null, null]);
  });
});
