import request from 'supertest';
import { type Logger, routerLogger } from '../../src/http/logger.js';
import { SequencerError } from '../../src/index.js';
import { base64url, generateJwtKey } from '../support/sites/service-jwt.js';
import { startSite } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';

const control = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** Each character that a terminal or a reader of logs could act on, with a line that an attacker wants to appear. */
const hostile = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, offset) => String.fromCharCode(0x7f + offset)),
  ...'\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
].join('express-intents: ready.');

/** The message and the details of each line, as the logger of a site receives them. */
function recordedLogger() {
  const lines: [message: string, details?: Record<string, unknown>][] = [];
  const note = (...line: (typeof lines)[number]) => void lines.push(line);
  const logger: Logger = { info: note, warn: note, error: note };
  return { lines, logger };
}

describe('log injection', () => {
  test('by the header of an unsigned JWT', async () => {
    const { lines, logger } = recordedLogger();
    const webhook = { publicKeys: [generateJwtKey().publicKey] };
    const sequencer = { transport: recordingTransport() };
    const { origin } = await startSite({ sequencer, webhook, origin: 'https://shop.example', logger });
    lines.length = 0;
    const jwt = `${base64url({ alg: 'EdDSA', crit: ['\n\u001b[2Jowned\u202e'] })}.${base64url({})}.AA`;
    await request(origin).post('/intent/webhook').set('content-type', 'application/jwt').send(jwt);
    expect(lines).toHaveLength(1);
    const [message] = lines[0] ?? [''];
    expect(message).toContain('\\u000a\\u001b[2Jowned\\u202e');
    expect(message).not.toMatch(control);
  });

  test('by the text of a failed sequencer', async () => {
    const { lines, logger } = recordedLogger();
    const fail = () => Promise.reject(new SequencerError('sequencer_error', hostile, { serviceMessage: hostile }));
    const { origin } = await startSite({
      sequencer: { transport: { call: fail, close: async () => undefined } },
      logger,
    });
    lines.length = 0;
    await request(origin).get('/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH').expect(502);
    const texts = lines.flatMap(([message, details = {}]) => [message, ...Object.values(details)]);
    expect(texts.filter((text) => control.test(String(text)))).toEqual([]);
    expect(texts.join()).toContain('\\u001b');
  });

  test('by the message of an error, in the message, the details and the stack of a line', () => {
    const { lines, logger } = recordedLogger();
    const error = new Error(`${hostile}\n    at owned (file:///owned.js:1:1)`);
    const { message, stack = '' } = error;
    routerLogger(logger).error(message, { message, stack, count: 3 });
    const [[line, details = {}] = ['']] = lines;
    for (const text of [line, details.message]) expect(text).not.toMatch(control);
    expect(details.count).toBe(3);
    // Only the real frames have lines of their own.
    const [first = '', ...frames] = String(details.stack).split('\n');
    expect(first).toMatch(/^Error: \\u0000express-intents: ready\..*\\u2069\\u000a {4}at owned/);
    expect(first).not.toMatch(control);
    expect(frames).toEqual(stack.slice(stack.indexOf(message) + message.length + 1).split('\n'));
  });

  test('by a stack whose message is not that of its error', () => {
    const { lines, logger } = recordedLogger();
    routerLogger(logger).warn('w', {
      message: 'changed',
      stack: 'Error: a\nexpress-intents: ready.\r\n    at f (a.js:1:1)',
    });
    expect(lines[0]?.[1]?.stack).toBe('Error: a\\u000aexpress-intents: ready.\\u000d\n    at f (a.js:1:1)');
  });
});
