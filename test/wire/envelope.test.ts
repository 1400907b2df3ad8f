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

  test('omits an empty body, as proto3 does', () => {
    expect(hex(encodeRequest(someOperation, new Uint8Array()))).toBe(hex(bytes('0a00 12024142 1a026364')));
  });

  test('has a length of two bytes for a body of more than 127 bytes', () => {
    const body = new Uint8Array(300).fill(7);
    const envelope = encodeRequest(someOperation, body);
    expect(hex(envelope.subarray(10, 13))).toBe('22ac02');
    expect(hex(decode(v1.Request, envelope).body)).toBe(hex(body));
  });

  test('is decoded with and without the empty version', () => {
    for (const envelope of ['0a00 12024142 1a026364 220105', '12024142 1a026364 220105']) {
      const { version, service, method, body } = decode(v1.Request, bytes(envelope));
      expect({ version, service, method, body: hex(body) }).toEqual({
        version: '',
        service: 'AB',
        method: 'cd',
        body: '05',
      });
    }
  });
});

describe('the response envelope (interface 2.1, 7)', () => {
  test('omits the defaults of a success, as proto3 does: without a body it has no bytes', () => {
    expect(hex(encodeOkResponse(new Uint8Array()))).toBe('');
    expect(hex(encodeOkResponse(Uint8Array.of(8, 1)))).toBe(hex(bytes('12020801')));
  });

  test('of an ERROR has its reason in field 3 and no body', () => {
    expect(hex(encodeErrorResponse('no'))).toBe(hex(bytes('0801 1a026e6f')));
  });

  test.each([
    ['a body', encodeOkResponse(Uint8Array.of(1, 2)), '0102'],
    ['no body', encodeOkResponse(new Uint8Array()), ''],
    ['OK written out', bytes('0800 12020102'), '0102'],
    ['OK left out, as proto3 writes it', bytes('12020102'), '0102'],
    ['fields out of order', bytes('12020102 0800'), '0102'],
    ['an unknown field', bytes('0800 12020102 7a0161'), '0102'],
    ['an empty message (4.4)', bytes('0800 12020102 1a00'), '0102'],
  ])('of a success is opened with %s', (_, answer, body) => {
    expect(hex(openResponse(answer))).toBe(body);
  });

  test('of an ERROR is sequencer_error, with the reason separate from the message', () => {
    const error = failureOf(encodeErrorResponse('the reason of the service'));
    expect([error.code, error.status]).toEqual(['sequencer_error', 502]);
    expect(error.serviceMessage).toBe('the reason of the service');
    expect(`${error.message} ${error.title}`).not.toContain('reason of the service');
  });

  test('of an ERROR has the first 1,000 characters of the reason', () => {
    expect(failureOf(encodeErrorResponse('é'.repeat(5_000))).serviceMessage).toBe('é'.repeat(1_000));
  });

  test('of an ERROR with a body does not return the body', () => {
    expect(failureOf(bytes('0801 12020102')).code).toBe('sequencer_error');
    expect(failureOf(bytes('0801')).serviceMessage).toBe('');
  });

  test.each([
    ['an unknown result', '0802 12020102'],
    ['a negative result', '08ffffffffffffffffff01'],
    ['text', hex(Buffer.from('<html><body>502 Bad Gateway</body></html>'))],
    ['JSON', hex(Buffer.from('{"result":0}'))],
    ['a field number of 0', '0000'],
    ['a reserved wire type', '0f'],
    ['a message that is not UTF-8', '08011a02c328'],
    ['a length beyond the end', '0800 1205 01'],
    ['a varint without an end', '08ffffffffffffffffffffff'],
    ['a group without an end', '0800 7b'],
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

  test('that is unreadable keeps the cause for the logs', () => {
    expect(failureOf(bytes('08')).cause).toBeInstanceOf(Error);
  });
});

test.each([
  ['the result written out', '0800'],
  ['a body of no bytes', '1200'],
  ['both', '08001200'],
])('an envelope with OK and an empty inner message is encoded with %s', (_how, hex) => {
  expect(openResponse(Buffer.from(hex, 'hex'))).toHaveLength(0);
});

test.each([
  [200, 'application/octet-stream', true],
  [200, 'Application/Octet-Stream; charset=binary', true],
  [200, 'text/html', false],
  [200, 'application/octet-stream+json', false],
  [200, '', false],
  [200, null, false],
  [200, undefined, false],
  [204, 'application/octet-stream', false],
  [201, 'application/octet-stream', false],
])('an HTTP response %i of type %s without bytes is an envelope: %s', (status, type, isEnvelope) => {
  expect(isEmptyEnvelope(status, type)).toBe(isEnvelope);
});
