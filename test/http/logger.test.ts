import pino from 'pino';
import request from 'supertest';
import { ConfigError } from '../../src/errors.js';
import { type Logger, routerLogger } from '../../src/http/logger.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { faultSequencer, unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { startSite } from '../support/sites/site.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';

/** A real pino behind the functions of docs/logs.md, and its lines. */
function startPino() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const logger: Logger = {
    info: (message, details = {}) => log.info(details, message),
    warn: (message, details = {}) => log.warn(details, message),
    error: (message, details = {}) => log.error(details, message),
  };
  return { logger, lines };
}

describe('pino', () => {
  test('receives the message as msg and the details as fields', async () => {
    const { logger, lines } = startPino();
    const { url } = await faultSequencer((_call, res) => res.writeHead(404).end());
    const { origin } = await startSite({ sequencer: { url }, logger });
    const { headers } = await request(origin).get(`/status/${id}`).expect(502);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 50,
      msg: 'express-intents: sequencer_bad_status',
      requestId: headers['x-request-id'],
      message: expect.stringMatching(/^The sequencer answered with HTTP status 404\./),
      code: 'sequencer_bad_status',
    });
  });
});

describe('pino, during an outage of the sequencer,', () => {
  test('receives the cause as fields', async () => {
    const { logger, lines } = startPino();
    const { origin } = await startSite({ sequencer: { url: await unreachableUrl() }, logger });
    await request(origin).get(`/status/${id}`).expect(503);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 50,
      msg: expect.stringMatching(/^express-intents: calls to the sequencer fail: sequencer_unreachable\./),
      message: expect.stringMatching(/^The sequencer at http:\/\/127\.0\.0\.1:2 cannot be reached\./),
      code: 'sequencer_unreachable',
      cause: expect.stringContaining('ECONNREFUSED 127.0.0.1:2'),
      causeCode: 'ECONNREFUSED',
    });
  });
});

describe('routerLogger', () => {
  type Call = readonly [level: string, ...args: unknown[]];
  /** A logger that records its calls. `more` are the properties that identify its kind. */
  function recorder(more: object = {}) {
    const calls: Call[] = [];
    const at =
      (level: string) =>
      (...args: unknown[]) =>
        void calls.push([level, ...args]);
    return { calls, logger: { warn: at('warn'), error: at('error'), ...more, at } };
  }
  const nothing = (): void => undefined;

  test.each<[string, object]>([
    ['console-like', {}],
    // winston has children and levels as well.
    ['winston-like', { child: nothing, levels: { error: 0 }, isLevelEnabled: nothing, silent: false }],
  ])('calls a %s logger with the message, then with the details if there are any', (_name, more) => {
    const { calls, logger } = recorder(more);
    const { info, warn, error } = routerLogger(logger);
    info('a');
    warn('b', { intent: 'x' });
    error('c', { message: 'm', stack: 's' });
    expect(calls).toEqual([
      ['warn', 'a'],
      ['warn', 'b', { intent: 'x' }],
      ['error', 'c', { message: 'm', stack: 's' }],
    ]);
  });

  test('logs nothing with false, and rejects other values at startup', async () => {
    const { origin } = await startSite({ sequencer: { url: await unreachableUrl() }, logger: false });
    await request(origin).get(`/status/${id}`).expect(503);
    expect(() => intentRouter({ logger: true as never })).toThrow(ConfigError);
    expect(() => intentRouter({ logger: { warn: nothing } as never })).toThrow(
      'an object with the methods warn and error, or false',
    );
  });
});
