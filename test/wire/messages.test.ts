import protobuf from 'protobufjs';
import { decode, encode, fromUint64, toUint64, v1 } from '../../src/wire/codec.js';
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

  test('has the Timestamp of google.protobuf: seconds int64 1, nanos int32 2', () => {
    const timestamp = written.root.lookupType('google.protobuf.Timestamp');
    expect(timestamp.fieldsArray.map(describeField)).toEqual(['seconds int64 1', 'nanos int32 2']);
  });

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
    const names = ['intents.v1', 'intents.emulator.v1'].flatMap((namespace) =>
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

  // Computed from the contract without protobufjs: the tag at the start of a message with one field.
  test.each(Object.entries(contract))(
    'start each field of %s with the tag of its number and type',
    (name, { fields }) => {
      const codec = codecs.get(`intents.v1.${name}`);
      if (!codec) throw new Error(`${name} has no codec.`);
      const type = root.lookupType(`intents.v1.${name}`);
      const examples = filledExamples(type);
      for (const field of fields) {
        const words = (field.split('/').pop() ?? '').split(' ');
        const property = (words[0] ?? '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        const value = examples.map((each) => (each as Record<string, unknown>)[property]).find((each) => each != null);
        if (value === undefined) {
          // An enum that has only its default value is never written.
          expect(contract[name]?.enums).toEqual({ Result: { OK: 0 } });
          continue;
        }
        const number = Number(words.at(-1));
        const wireType = { double: 1, uint64: 0, bool: 0, Result: 0 }[words.at(-2) ?? ''] ?? 2;
        expect(codec.encode({ [property]: value }).finish()[0]).toBe((number << 3) | wireType);
      }
    },
  );

  test('write fields in ascending order and omit defaults (protocol 4)', () => {
    const shuffled = { quarks: toUint64(7n), nativeAmount: 2, exchangeRate: 1, currency: 'kin' };
    expect(hex(encode(v1.ExchangeData, shuffled))).toBe('0a036b696e11000000000000f03f1900000000000000402007');
    expect(
      encode(v1.ExchangeData, { currency: '', exchangeRate: 0, nativeAmount: 0, quarks: toUint64(0n) }),
    ).toHaveLength(0);
    expect(encode(v1.GetStatusResponse, { exists: false, codeScanned: false, intentSubmitted: false })).toHaveLength(0);
  });

  test('keep only the last member of a oneof (interface 2.3, 2.4)', () => {
    const { exact, partial } = decode(v1.RequestToReceiveBill, Uint8Array.of(0x12, 0, 0x1a, 0));
    expect([exact, partial?.currency]).toEqual([null, '']);
    const { requestToReceiveBill, codeScanned } = decode(v1.Message, Uint8Array.of(0x32, 0, 0x2a, 0));
    expect([codeScanned, requestToReceiveBill?.domain]).toEqual([null, null]);
  });
});

describe('uint64 quarks are exact (interface 2.4)', () => {
  const values = [0n, 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

  test.each(values)('for %s', (quarks) => {
    const bytes = encode(v1.ExchangeData, { quarks: toUint64(quarks) });
    expect(fromUint64(decode(v1.ExchangeData, bytes).quarks)).toBe(quarks);
    expect(hex(bytes)).toBe(quarks === 0n ? '' : `20${hex(varint(quarks))}`);
  });

  function varint(value: bigint): Uint8Array {
    const bytes: number[] = [];
    for (let rest = value; ; rest >>= 7n) {
      if (rest < 0x80n) return Uint8Array.from([...bytes, Number(rest)]);
      bytes.push(Number(rest & 0x7fn) | 0x80);
    }
  }
});
