import { fileURLToPath } from 'node:url';
import Long from 'long';
import protobuf from 'protobufjs';
import { v1 } from '../../src/wire/codec.js';
import { simulator } from '../../src/wire/simulator-codec.js';

/** The interface of a generated codec, for tests of all codecs by name. */
export interface AnyCodec {
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
}

/** The .proto files, parsed by the full build of protobufjs; `keepCase` keeps names unchanged. */
export function reflect({ keepCase }: { readonly keepCase: boolean }): protobuf.Root {
  const root = new protobuf.Root();
  const resolvePath = root.resolvePath.bind(root);
  root.resolvePath = (origin, target) =>
    target.startsWith('google/')
      ? resolvePath(origin, target)
      : fileURLToPath(new URL(`../../proto/${target.split('/').pop()}`, import.meta.url));
  root.loadSync('intents.proto', { keepCase });
  root.loadSync('simulator.proto', { keepCase });
  root.resolveAll();
  return root;
}

const isCodec = (value: unknown): value is AnyCodec =>
  typeof value === 'function' && 'decode' in value && 'encode' in value;

const codecsIn = (namespace: object, prefix: string): [string, AnyCodec][] =>
  Object.entries(namespace).flatMap(([name, value]) => (isCodec(value) ? [[`${prefix}.${name}`, value]] : []));

/** Every generated codec, by the full name of its message. */
export const codecs: ReadonlyMap<string, AnyCodec> = new Map([
  ...codecsIn(v1, 'intents.v1'),
  ...codecsIn(simulator, 'intents.simulator.v1'),
]);

/**
 * Messages of a type with every field set to a non-default value: one for each combination of oneof members. Nested messages
 * use the first combination.
 */
export function filledExamples(type: protobuf.Type): object[] {
  const oneofMembers = type.fieldsArray.filter(({ partOf }) => partOf);
  const choices: (protobuf.Field | undefined)[] = oneofMembers.length > 0 ? oneofMembers : [undefined];
  return choices.map((chosen) => {
    const fields = type.fieldsArray.filter((field) => !field.partOf || field === chosen);
    return Object.fromEntries(
      fields.map((field) => [field.name, field.repeated ? [filled(field), filled(field)] : filled(field)]),
    );
  });
}

function filled({ id, name, type, resolvedType }: protobuf.Field): unknown {
  if (resolvedType instanceof protobuf.Type) return filledExamples(resolvedType)[0];
  if (resolvedType instanceof protobuf.Enum) return Math.max(...Object.values(resolvedType.values)) || undefined;
  if (type === 'bytes') return new Uint8Array(Buffer.from(`bytes of ${name}`));
  if (type === 'string') return `text of ${name}, ü`;
  if (type === 'double') return id + 0.05;
  if (type === 'uint64') return Long.fromString('18446744073709551615', true);
  if (type === 'int64') return Long.fromString('-9007199254740993', false);
  if (type === 'int32') return -5;
  if (type === 'bool') return true;
  throw new Error(`No example for a field of type ${type}.`);
}
