import { EventEmitter } from 'node:events';
import {
  PostgresListener,
  type PostgresListenerOptions,
} from '../../../../src/ledger/database/postgres/postgres-listener.js';

/** A client of pg whose certificates, which it reads at construction, are missing at first. */
function clientThatCannotBeMadeAtFirst() {
  let made = 0;
  const listening = new EventEmitter();
  class Client extends EventEmitter {
    constructor() {
      super();
      made += 1;
      if (made === 1) throw Object.assign(new Error('ENOENT: root.crt'), { code: 'ENOENT' });
    }

    async connect(): Promise<void> {}

    async query(sql: string): Promise<void> {
      listening.emit('query', sql, this);
    }

    async end(): Promise<void> {}
  }
  // The listener uses no other member of a client.
  const ClientOfPg = Client as unknown as PostgresListenerOptions['ClientOfPg'];
  return { ClientOfPg, listening };
}

test('a client that cannot be created, as while its certificates are replaced, is created later', async () => {
  const { ClientOfPg, listening } = clientThatCannotBeMadeAtFirst();
  const heard: string[] = [];
  const asked = new Promise<[string, EventEmitter]>((resolve) => {
    listening.once('query', (...query: [string, EventEmitter]) => resolve(query));
  });
  const onMessage = (payload: string): void => void heard.push(payload);
  const listener = new PostgresListener({ ClientOfPg, config: {}, channel: 'intents', onMessage });
  const [sql, client] = await asked;
  expect(sql).toBe('listen intents');
  client.emit('notification', { payload: 'one' });
  expect(heard).toEqual(['one']);
  listener.close();
});
