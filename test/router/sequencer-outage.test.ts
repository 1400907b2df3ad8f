import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import bs58 from 'bs58';
import request from 'supertest';
import { IntentError, SequencerError } from '../../src/errors.js';
import { SequencerOutages } from '../../src/router/sequencer-outage.js';
import { eventually } from '../support/eventually.js';
import { plainSuccess } from '../support/sequencers/fault-sequencer.js';
import { LogRecorder, startSite } from '../support/sites/site.js';

async function start() {
  const sequencer: { fault?: SequencerError | undefined } = {};
  const transport = {
    call: async ({ method }: { readonly method: string }) => {
      if (sequencer.fault) throw sequencer.fault;
      return plainSuccess(method);
    },
    close: async () => undefined,
  };
  const { origin, log } = await startSite({
    sequencer: { url: 'https://sequencer.example', transport },
    limits: { requests: false },
  });
  const readStatus = async (): Promise<number> =>
    (await request(origin).get(`/status/${bs58.encode(randomBytes(32))}`)).status;
  const readStatuses = (count: number): Promise<number[]> => Promise.all(Array.from({ length: count }, readStatus));
  return { sequencer, log, readStatuses };
}

test('an outage of the sequencer is two log lines, with its cause, its length and the failed calls', async () => {
  const { sequencer, log, readStatuses } = await start();
  expect(await readStatuses(3)).toEqual([200, 200, 200]);
  const cause = new Error('connect ECONNREFUSED');
  sequencer.fault = new SequencerError('sequencer_unreachable', 'No connection.', { cause });
  for (const status of await readStatuses(60)) expect([502, 503]).toContain(status);
  const begin = /^error .*calls to the sequencer fail: sequencer_un\w+\. While.*ECONNREFUSED/;
  expect(log.lines).toEqual([expect.stringMatching(begin)]);
  sequencer.fault = undefined;
  await eventually(async () => expect(await readStatuses(1)).toEqual([200]));
  await eventually(() => expect(log.lines).toHaveLength(2));
  expect(log.lines[1]).toMatch(/^warn .*answers again after \d+\.\d s\. Failed calls: /);
  const counts = [...(log.lines[1] ?? '').matchAll(/(\d+) sequencer_/g)].map(([, count]) => Number(count));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(60);
});

describe('an outage', () => {
  const unreachable = (): SequencerError => new SequencerError('sequencer_unreachable', 'No connection.');
  let log: LogRecorder;
  let note: SequencerOutages['note'];

  beforeEach(() => {
    jest.useFakeTimers();
    log = new LogRecorder();
    ({ note } = new SequencerOutages(log));
  });
  afterEach(() => jest.useRealTimers());

  test('does not end with an error of a proxy, or of a call that was not sent', () => {
    note(unreachable());
    for (const failure of [
      new SequencerError('sequencer_bad_status', 'Bad gateway.', { httpStatus: 502 }),
      new IntentError('too_busy', 'Busy.'),
      new TypeError('A transport has a bug.'),
    ]) {
      note(failure);
      jest.advanceTimersByTime(10_000);
    }
    expect(log.lines).toHaveLength(1);
    note(new SequencerError('sequencer_error', 'Refused.'));
    jest.advanceTimersByTime(3_000);
    expect(log.lines[1]).toContain('answers again after 30.0 s. Failed calls: 1 sequencer_unreachable.');
  });

  test('in which some calls are answered is counted each minute', () => {
    for (let second = 0; second < 150; second += 1) {
      note(unreachable());
      note();
      jest.advanceTimersByTime(1_000);
    }
    expect(log.lines.map((line) => /still fail. Failed calls: (\d+)/.exec(line)?.[1])).toEqual([
      undefined,
      '61',
      '121',
    ]);
  });
});

test('a refusal of the sequencer is a log line for each request', async () => {
  const { sequencer, log, readStatuses } = await start();
  sequencer.fault = new SequencerError('sequencer_error', 'Refused.');
  await readStatuses(3);
  expect(log.lines).toHaveLength(3);
});
