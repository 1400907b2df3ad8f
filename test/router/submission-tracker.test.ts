import bs58 from 'bs58';
import { ClientSecretCache } from '../../src/http/events/client-secret-cache.js';
import { SubmissionTracker } from '../../src/router/submission-tracker.js';
import type { StatusSource } from '../../src/sequencer/watch/status-cache.js';
import type { RouterEventPayload } from '../../src/telemetry/router-event.js';

const intent = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
/** The payload of the login in docs/protocol.md, section 7. */
const login = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const loginSecret = bs58.encode(Buffer.from('030000000000000000050c131a21282f363d444b', 'hex'));

const submitted = { exists: true, codeScanned: true, intentSubmitted: true };
const scanned = { ...submitted, intentSubmitted: false };

const start = (hasLedger: boolean) => {
  const clock = { nowMs: 0 };
  const now = () => clock.nowMs;
  const emitted: RouterEventPayload[] = [];
  const secrets = new ClientSecretCache(now);
  const tracker = new SubmissionTracker({
    observer: { emit: (one) => void emitted.push(one) },
    secrets,
    hasLedger,
    now,
  });
  const submit = (id: string, source: StatusSource = 'status', codeScanned = false): void =>
    tracker.onStatus({ id, status: { ...submitted, codeScanned }, source });
  return { clock, emitted, secrets, tracker, submit };
};

test('the submission tracker emits a repeated submission once a day', () => {
  const { clock, emitted, submit } = start(false);
  submit(intent);
  clock.nowMs += 23 * 3_600_000;
  submit(intent, 'webhook');
  expect(emitted).toEqual([{ type: 'intent_submitted', intent, kind: undefined, source: 'status' }]);
});

test('the submission tracker emits a scan once, from a message or a watch, and a decline once', () => {
  const { emitted, tracker } = start(false);
  for (let count = 0; count < 2; count += 1) {
    tracker.onStatus({ id: intent, status: scanned, source: 'stream' });
    tracker.onEvent(intent, { kind: 'code_scanned', id: 'code_scanned' });
    tracker.onEvent(intent, { kind: 'client_rejected_login', id: 'x' });
  }
  const declined = { type: 'intent_declined', intent, kind: 'login' };
  expect(emitted).toEqual([{ type: 'code_scanned', intent }, declined]);
});

test('the submission tracker emits a scan before a submission that a watch reports with it', () => {
  const { emitted, submit } = start(false);
  submit(intent, 'stream', true);
  expect(emitted).toEqual([
    { type: 'code_scanned', intent },
    { type: 'intent_submitted', intent, kind: undefined, source: 'stream' },
  ]);
});

test.each(['status', 'webhook', 'ledger'] as const)(
  'the submission tracker emits no scan that only %s reports',
  (source) => {
    const { emitted, tracker } = start(false);
    tracker.onStatus({ id: intent, status: scanned, source });
    expect(emitted).toEqual([]);
  },
);

test('the submission tracker ignores submissions that the ledger reports, and keeps no source of them', () => {
  const { emitted, submit } = start(false);
  submit(intent, 'ledger');
  submit(intent, 'webhook');
  expect(emitted).toEqual([{ type: 'intent_submitted', intent, kind: undefined, source: 'webhook' }]);
});

test('the submission tracker with a ledger emits logins, and adds the first source to payments of the ledger', () => {
  const { emitted, secrets, tracker, submit } = start(true);
  submit(intent);
  expect(emitted).toEqual([]);
  const ofLedger = { type: 'intent_submitted', kind: 'payment', source: 'ledger' } as const;
  tracker.ledgerObserver.emit({ ...ofLedger, intent });
  tracker.ledgerObserver.emit({ ...ofLedger, intent: 'another' });
  const others = { type: 'payment_expired', intent } as const;
  tracker.ledgerObserver.emit(others);
  expect(emitted.splice(0)).toEqual([
    { ...ofLedger, intent, source: 'status' },
    { ...ofLedger, intent: 'another' },
    others,
  ]);

  secrets.set(login, loginSecret);
  submit(login);
  expect(emitted).toEqual([{ type: 'intent_submitted', intent: login, kind: 'login', source: 'status' }]);
});
