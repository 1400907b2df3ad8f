import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const folder = fileURLToPath(new URL('../../proto/', import.meta.url));

/** The package of the interface, with its comments. */
function interfacePackage(): protobuf.Namespace {
  const root = new protobuf.Root();
  root.loadSync(`${folder}intents.proto`, { keepCase: true, alternateCommentMode: true });
  return root.lookup('intents.v1') as protobuf.Namespace;
}

describe('proto/intents.proto', () => {
  const { nestedArray } = interfacePackage();
  const messages = nestedArray.filter((one): one is protobuf.Type => one instanceof protobuf.Type);

  test('reserves every number between the fields of a message', () => {
    expect(messages.length).toBeGreaterThan(20);
    const gaps = messages.flatMap((type) => {
      const used = new Set(type.fieldsArray.map(({ id }) => id));
      const numbers = Array.from({ length: Math.max(0, ...used) }, (_, index) => index + 1);
      return numbers.filter((id) => !used.has(id) && !type.isReservedId(id)).map((id) => `${type.name} ${id}`);
    });
    expect(gaps).toEqual([]);
    expect(messages.find(({ name }) => name === 'Message')?.isReservedId(11)).toBe(true);
  });

  test.each([
    ['IntentSubmitted', 2],
    ['RequestToReceiveBill', 8],
  ])('reserves %s %i, which deployed software uses', (message, id) => {
    expect(messages.find(({ name }) => name === message)?.isReservedId(id)).toBe(true);
  });
});
