import bs58 from 'bs58';
import { ClientSecrets } from '../../src/http/events/client-secret-cache.js';
import { IntentSightings } from '../../src/router/submission-tracker.js';
import type { IntentEvent } from '../../src/sequencer/watch/intent-event.js';
import type { RouterEventPayload } from '../../src/telemetry/router-event.js';

const intent = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
/** The login of docs/protocol.md, section 7: its payload. */
const login = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const loginSecret = bs58.encode(Buffer.from('030000000000000000050c131a21282f363d444b', 'hex'));

const start = (hasLedger: boolean) => {
  const clock = { nowMs: 0 };
  const now = () => clock.nowMs;
  const told: RouterEventPayload[] = [];
  const secrets = new ClientSecrets(now);
  const sightings = new IntentSightings({ emit: (one) => void told.push(one), secrets: () => secrets, hasLedger, now });
  return { clock, told, secrets, sightings };
};

const read = async (events: AsyncIterable<IntentEvent>) => {
  const kinds: string[] = [];
  for await (const { kind } of events) kinds.push(kind);
  return kinds;
};

test('what is learnt again and again is told once a day', () => {
  const { clock, told, sightings } = start(false);
  sightings.submitted(intent);
  clock.nowMs += 23 * 3_600_000;
  sightings.submitted(intent);
  expect(told).toEqual([{ type: 'intent_submitted', intent, kind: undefined, way: 'status' }]);
});

test('that a code was scanned is told once, however many watches see it, and every watch passes on what it sees', async () => {
  const { told, sightings } = start(false);
  const watch = sightings.watching(
    () =>
      async function* () {
        yield { kind: 'code_scanned', id: 'code_scanned' } as const;
        yield { kind: 'client_rejected_login', id: 'x' } as const;
      },
  );
  const signal = new AbortController().signal;
  const begin = watch(async () => ({ exists: true, codeScanned: false, intentSubmitted: false }));
  for (let count = 0; count < 2; count += 1) {
    expect(await read(begin({ id: intent }, { signal }))).toEqual(['code_scanned', 'client_rejected_login']);
  }
  const declined = { type: 'intent_declined', intent, kind: 'login' };
  expect(told).toEqual([{ type: 'code_scanned', intent }, declined, declined]);
});

test('the way is that of whoever asks when the answer comes, also where the answer is an error', async () => {
  const { told, sightings } = start(false);
  await sightings.asking('webhook', async () => sightings.submitted(intent))(intent);
  const fails = async (): Promise<never> => {
    throw new Error('No.');
  };
  await expect(sightings.asking('webhook', fails)(login)).rejects.toThrow('No.');
  sightings.submitted(login);
  expect(told.map((one) => ('way' in one ? one.way : undefined))).toEqual(['webhook', 'status']);
});

test('with a ledger a payment is told of by the ledger, with the way that was first, and a login at once', () => {
  const { told, secrets, sightings } = start(true);
  sightings.submitted(intent);
  expect(told).toEqual([]);
  const ofLedger = { type: 'intent_submitted', kind: 'payment', way: 'ledger' } as const;
  expect(sightings.completed({ ...ofLedger, intent })).toEqual({ ...ofLedger, intent, way: 'status' });
  expect(sightings.completed({ ...ofLedger, intent: 'another' })).toEqual({ ...ofLedger, intent: 'another' });

  secrets.remember(login, loginSecret);
  sightings.submitted(login);
  expect(told).toEqual([{ type: 'intent_submitted', intent: login, kind: 'login', way: 'status' }]);
});
