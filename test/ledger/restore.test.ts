import { generateKeyPair } from '../../src/index.js';
import { startPostgres } from '../support/databases/postgres-server.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { post } from '../support/sites/post.js';

// The promises of docs/backups.md for a backup that is older than the last payments.

const timing = { roundMs: 20, watchFirstMs: 20 };
const settings = { destination: generateKeyPair().publicKey, login: { verifierSecret: generateKeyPair().secret } };

async function buy({ origin }: LedgerSite): Promise<{ id: string; secret: string }> {
  const { body } = await post(origin).set('Origin', origin).send({ mode: 'payment' }).expect(201);
  return { id: intentIdOf(body.client_secret), secret: body.client_secret };
}

test('a restored backup settles the payments that were open in it, and does not know later ones', async () => {
  const server = await startPostgres();
  const present = await server.createDatabase();
  const calls: string[] = [];
  const onPaid = ({ id }: { id: string }): void => void calls.push(id);
  const options = { ...settings, timing, onPaid };

  const before = await startLedgerSite(options, { ledger: { url: server.url(present) } });
  const { simulator } = before;
  const inBackup = await buy(before);
  await before.router.close();
  const backup = await server.createDatabase(present);

  const meanwhile = await startLedgerSite(options, {
    runningSimulator: simulator,
    ledger: { url: server.url(present) },
  });
  const later = await buy(meanwhile);
  for (const { id, secret } of [inBackup, later]) {
    await simulator.wallet('Ada').pay(secret);
    await untilState(meanwhile, id, 'settled');
  }
  await meanwhile.router.close();
  expect(calls).toEqual([inBackup.id, later.id]);

  const restored = await startLedgerSite(options, { runningSimulator: simulator, ledger: { url: server.url(backup) } });
  await untilState(restored, inBackup.id, 'settled');
  expect(calls.slice(2)).toEqual([inBackup.id]);
  expect(await restored.router.intents.find(later.id)).toBeUndefined();
  await restored.router.close();
});

test('a restored backup settles a paid payment whose confirmation it lacks, once its page polls the status', async () => {
  const server = await startPostgres();
  const present = await server.createDatabase();
  const calls: string[] = [];
  const onPaid = ({ id }: { id: string }): void => void calls.push(id);
  const options = { ...settings, timing, onPaid };

  const before = await startLedgerSite(options, { ledger: { url: server.url(present) } });
  const { simulator } = before;
  before.faults.failOnce('confirm', 'before');
  const refused = await post(before.origin).set('Origin', before.origin).set('Idempotency-Key', 'tea').send({});
  expect(refused.status).toBe(503);
  await before.router.close();
  const backup = await server.createDatabase(present);

  const meanwhile = await startLedgerSite(options, {
    runningSimulator: simulator,
    ledger: { url: server.url(present) },
  });
  const { body } = await post(meanwhile.origin)
    .set({ Origin: meanwhile.origin, 'Idempotency-Key': 'tea', Cookie: String(refused.get('Set-Cookie')) })
    .send({})
    .expect(201);
  const id = intentIdOf(body.client_secret);
  await meanwhile.router.close();

  const restored = await startLedgerSite(options, { runningSimulator: simulator, ledger: { url: server.url(backup) } });
  await restored.router.intents.recheck(id);
  expect(await restored.router.intents.find(id)).toMatchObject({ state: 'creating', dueAt: undefined });
  await simulator.wallet('Ada').pay(body.client_secret);
  await eventually('the page learns of the payment', async () => {
    const status = await fetch(`${restored.origin}/status/${id}`);
    return ((await status.json()) as { intent_submitted: boolean }).intent_submitted;
  });
  await untilState(restored, id, 'settled');
  expect(calls).toEqual([id]);
  await restored.router.close();
});
