import pino from 'pino';
import request from 'supertest';
import { ConfigError, SequencerError } from '../../src/errors.js';
import { describeError } from '../../src/http/describe-error.js';
import { type Logger, routerLogger } from '../../src/http/logger.js';
import { intentRouter } from '../../src/intent-router.js';
import { urlOfNobody } from '../support/sequencers/fault-sequencer.js';
import { destination, startSite, verifierSecret } from '../support/sites/site.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';

/** A real pino, and the lines it has written. */
function startPino(options: pino.LoggerOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(options, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

describe('pino', () => {
  test('gets the message as msg, the details as fields, and errors under err', async () => {
    const { logger, lines } = startPino();
    const { origin } = await startSite({ sequencerUrl: await urlOfNobody(), logger });
    const { headers } = await request(origin).get(`/status/${id}`).expect(503);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 50,
      msg: 'express-intents: sequencer_unreachable',
      requestId: headers['x-request-id'],
      err: {
        type: 'Error',
        message: expect.stringMatching(/^The sequencer at http:\/\/127\.0\.0\.1:2 cannot be reached\./),
        code: 'sequencer_unreachable',
        cause: expect.stringContaining('ECONNREFUSED 127.0.0.1:2'),
        causeCode: 'ECONNREFUSED',
      },
    });
  });

  test('gets the stack of an error of the site, and of a hook none of its properties', async () => {
    const { logger, lines } = startPino();
    const fault = Object.assign(new Error('the orders are asleep'), { config: { token: 'of the site' } });
    const payment = () => {
      throw fault;
    };
    const { origin } = await startSite({ sequencerUrl: await urlOfNobody(), payment, logger });
    await request(origin).post('/intent').set('Sec-Fetch-Site', 'same-origin').send({}).expect(500);
    expect(lines[0]).toMatchObject({
      msg: 'express-intents: internal_error',
      err: { message: 'the orders are asleep', stack: fault.stack },
    });
    expect(JSON.stringify(lines)).not.toContain('of the site');
  });

  test('gets what is no error beside the message', () => {
    const { logger, lines } = startPino();
    const { info, warn } = routerLogger(logger);
    info('quiet');
    warn('a watch has ended', { intent: 'x' });
    expect(lines).toMatchObject([
      { level: 30, msg: 'quiet' },
      { level: 40, msg: 'a watch has ended', intent: 'x' },
    ]);
    expect(lines[1]).not.toHaveProperty('err');
  });

  test('is known also as a child, with other names for its fields, and as the option has its type', () => {
    const { logger, lines } = startPino({ messageKey: 'message', errorKey: 'err', nestedKey: 'payload' });
    const child = logger.child({ part: 'payments' });
    routerLogger(child).error('down', { message: 'no way', stack: 'at home', requestId: 'r' });
    expect(lines[0]).toMatchObject({
      message: 'down',
      part: 'payments',
      payload: { requestId: 'r', err: { message: 'no way', stack: 'at home' } },
    });
    const transport = { call: async () => new Uint8Array(), close: async () => undefined };
    expect(() =>
      intentRouter({ transport, verifierSecret, destination, domain: 'shop.example', logger }),
    ).not.toThrow();
  });
});

describe('other loggers', () => {
  type Call = readonly [level: string, ...args: unknown[]];
  /** Notes how it is called; `more` are the properties by which it is known. */
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
  ])('%s: the message comes first, and then the details, where there are any', (_name, more) => {
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

  test.each<[string, object]>([
    ['bunyan-like', { child: nothing, addStream: nothing }],
    ['like what Fastify takes for pino', { child: nothing, silent: nothing, fatal: nothing }],
  ])('%s: the details come first', (_name, more) => {
    const { calls, logger } = recorder(more);
    routerLogger(logger).warn('b', { intent: 'x' });
    expect(calls).toEqual([['warn', { intent: 'x' }, 'b']]);
  });

  test('info is used where it is there', () => {
    const { calls, logger } = recorder();
    routerLogger({ ...logger, info: logger.at('info') }).info('a');
    expect(calls).toEqual([['info', 'a']]);
  });

  test('methods are called on their logger', () => {
    class Own implements Logger {
      readonly lines: string[] = [];
      warn(line: string): void {
        this.lines.push(line);
      }
      error(line: string): void {
        this.lines.push(line);
      }
    }
    const own = new Own();
    routerLogger(own).warn('a');
    expect(own.lines).toEqual(['a']);
  });

  test('false says nothing; anything else is refused at the start', async () => {
    const { origin } = await startSite({ sequencerUrl: await urlOfNobody(), logger: false });
    await request(origin).get(`/status/${id}`).expect(503);
    expect(() => intentRouter({ logger: true as never })).toThrow(ConfigError);
    expect(() => intentRouter({ logger: { warn: nothing } as never })).toThrow(
      'an object with warn and error, or false',
    );
  });
});

describe('what is told of an error', () => {
  test('what was at the bottom of it, however deep', () => {
    const system = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:443'), { code: 'ECONNREFUSED' });
    const first = new SequencerError('sequencer_unreachable', 'No way.', { cause: system });
    const last = new SequencerError('sequencer_unreachable', 'No way. Tried 3 times.', { cause: first });
    expect(describeError(last)).toEqual({
      message: 'No way. Tried 3 times.',
      code: 'sequencer_unreachable',
      cause: 'connect ECONNREFUSED 10.0.0.7:443',
      causeCode: 'ECONNREFUSED',
    });
  });

  test('of several addresses all', () => {
    const each = ['connect ECONNREFUSED ::1:443', 'connect ECONNREFUSED 127.0.0.1:443'].map((text) => new Error(text));
    const cause = Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' });
    expect(describeError(new SequencerError('sequencer_unreachable', 'No way.', { cause }))).toMatchObject({
      cause: 'connect ECONNREFUSED ::1:443; connect ECONNREFUSED 127.0.0.1:443',
      causeCode: 'ECONNREFUSED',
    });
  });

  test('an error that is its own cause ends somewhere', () => {
    const error = new Error('round');
    error.cause = error;
    expect(describeError(error)).toMatchObject({ message: 'round' });
  });

  test('of what is no error, no more than what it is', () => {
    expect(describeError('a text')).toEqual({ error: 'string' });
  });
});
