import { SequencerError } from '../../src/errors.js';
import { decode, encode, v1 } from '../../src/wire/codec.js';
import {
  encodeErrorResponse,
  encodeOkResponse,
  encodeRequest,
  isEmptyEnvelope,
  openResponse,
} from '../../src/wire/envelope.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const someOperation = { service: 'AB', method: 'cd' };

function failureOf(answer: Uint8Array): SequencerError {
  try {
    openResponse(answer);
  } catch (error) {
    if (error instanceof SequencerError) return error;
    throw error;
  }
  throw new Error('The answer was accepted.');
}

describe('the request envelope (interface 2.1, 4.1)', () => {
  test('has the tags 0x0A, 0x12, 0x1A, 0x22, each with a length; an empty version is a field of no bytes', () => {
    expect(hex(encodeRequest(someOperation, Uint8Array.of(1, 2, 3)))).toBe(
      hex(bytes('0a00 12024142 1a026364 2203010203')),
    );
  });

  test('has a non-empty version once (interface 9.2)', () => {
    expect(hex(encodeRequest(someOperation, Uint8Array.of(9), '1.0'))).toBe(
      hex(bytes('0a03312e30 12024142 1a026364 220109')),
    );
  });

  test('has a length of two bytes for a body of more than 127 bytes', () => {
    const body = new Uint8Array(300).fill(7);
    const envelope = encodeRequest(someOperation, body);
    expect(hex(envelope.subarray(10, 13))).toBe('22ac02');
    expect(hex(decode(v1.Request, envelope).body)).toBe(hex(body));
  });
});

describe('the response envelope (interface 2.1, 7)', () => {
  test.each([
    ['a body', encodeOkResponse(Uint8Array.of(1, 2)), '0102'],
    ['no body', encodeOkResponse(new Uint8Array()), ''],
    ['OK written out', bytes('0800 12020102'), '0102'],
    ['OK left out, as proto3 writes it', bytes('12020102'), '0102'],
    ['fields out of order', bytes('12020102 0800'), '0102'],
    ['an unknown field', bytes('0800 12020102 7a0161'), '0102'],
    ['an empty message (4.4)', bytes('0800 12020102 1a00'), '0102'],
    ['only an empty message', bytes('1a00'), ''],
    ['an empty message before the result', bytes('1a00 0800'), ''],
    ['only an empty body', bytes('1200'), ''],
    ['only unknown fields', bytes('4807 7a0178'), ''],
  ])('of a success is opened with %s', (_, answer, body) => {
    expect(hex(openResponse(answer))).toBe(body);
  });

  test('of an ERROR is sequencer_error, with the reason separate from the message', () => {
    const error = failureOf(encodeErrorResponse('the reason of the service'));
    expect([error.code, error.status]).toEqual(['sequencer_error', 502]);
    expect(error.serviceMessage).toBe('the reason of the service');
    expect(`${error.message} ${error.title}`).not.toContain('reason of the service');
  });

  test.each([
    ['an unknown result', '0802 12020102'],
    ['OK and an error text', '0800 1a03776879'],
    ['OK and bytes behind it', '0800 ffff'],
    ['OK and a line break behind it', '0800 0d0a'],
    ['a page after an empty line', hex(Buffer.from('\r\n<!doctype html><title>Sign in</title>'))],
    ['JSON', hex(Buffer.from('{"status":"ok"}'))],
    ['text', hex(Buffer.from('<html><body>502 Bad Gateway</body></html>'))],
    ['a field number of 0', '0000'],
    ['a message that is not UTF-8', '08011a02c328'],
    ['a length beyond the end', '0800 1205 01'],
    ['a varint without an end', '08ffffffffffffffffffffff'],
  ])('with %s is sequencer_bad_response', (_, answer) => {
    expect(failureOf(bytes(answer)).code).toBe('sequencer_bad_response');
  });

  test('that is cut anywhere but between two fields is rejected', () => {
    const answer = encode(v1.Response, { result: 1, body: Uint8Array.of(1, 2, 3), message: 'why' });
    const betweenFields = [2, 7];
    for (let length = 1; length < answer.length; length++) {
      const expected = betweenFields.includes(length) ? 'sequencer_error' : 'sequencer_bad_response';
      expect(`${length} ${failureOf(answer.subarray(0, length)).code}`).toBe(`${length} ${expected}`);
    }
  });
});

test.each([
  [200, 'application/octet-stream', true],
  [200, 'Application/Octet-Stream; charset=binary', true],
  [200, 'text/html', false],
  [200, '', true],
  [200, null, true],
  [200, undefined, true],
  [200, 'text/plain', false],
  [200, 'application/octet-stream+json', false],
  [200, 'application/x-protobuf', false],
  [204, 'application/octet-stream', false],
  [201, 'application/octet-stream', false],
  [204, undefined, false],
])('an HTTP response %i of type %s without bytes is an envelope: %s', (status, type, isEnvelope) => {
  expect(isEmptyEnvelope(status, type)).toBe(isEnvelope);
});
