import { jest } from '@jest/globals';
import type { Database } from '../../../src/ledger/database/database.js';
import { DatabaseConnector } from '../../../src/ledger/database/database-connector.js';

const rows = [{ one: 1 }];

function fakeDatabase(): Database {
  return {
    isShared: false,
    query: (async () => ({ rows, rowCount: 1 })) as Database['query'],
    transaction: () => {
      throw new Error('There is no transaction here.');
    },
    close: jest.fn(async () => undefined),
  };
}

const silent = { warn: () => undefined, error: () => undefined };
const ask = (connector: DatabaseConnector) => connector.query('select 1 as one');

describe('a database connector', () => {
  it('limits the wait of a query to the time that a request can wait', async () => {
    const open = () => new Promise<never>(() => undefined);
    const connector = new DatabaseConnector({ open, logger: silent, timing: { openWaitMs: 20 } });
    const unavailable = { code: 'ledger_unavailable', status: 503 };
    expect(await ask(connector).catch((error) => error)).toMatchObject(unavailable);
    const transaction = connector.transaction(async () => undefined);
    expect(await transaction.catch((error) => error)).toMatchObject(unavailable);
  });

  it('retries until the database opens, and logs the failure once', async () => {
    const lines: string[] = [];
    const logger = { warn: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) };
    let attempts = 0;
    const connector = new DatabaseConnector({
      open: async () => {
        attempts += 1;
        if (attempts < 4) throw new Error('the database is still asleep');
        return fakeDatabase();
      },
      logger,
      timing: { retryMs: 1 },
    });
    const message = 'The ledger cannot be opened: the database is still asleep';
    await expect(connector.ready()).rejects.toMatchObject({ code: 'ledger_unavailable', message });
    // The same for the next attempt, until one succeeds.
    await expect(connector.ready()).rejects.toThrow(message);
    expect(await ask(connector)).toEqual({ rows, rowCount: 1 });
    await connector.ready();
    expect(attempts).toBe(4);
    expect(lines).toEqual([
      expect.stringContaining(
        `express-intents: the ledger cannot be opened: the database is still asleep. Until it opens, `,
      ),
      'express-intents: the ledger is open. No action is needed.',
    ]);
  });

  it('stops retrying when it is closed, and closes a database that opens afterwards', async () => {
    let attempts = 0;
    const connector = new DatabaseConnector({
      open: async () => {
        attempts += 1;
        throw new Error('down');
      },
      logger: silent,
      timing: { retryMs: 5, openWaitMs: 20 },
    });
    await connector.ready().catch(() => undefined);
    await connector.close();
    const attemptsAtClose = attempts;
    await expect(ask(connector)).rejects.toThrow('The ledger is closed, because router.close() was called.');
    expect(attempts).toBe(attemptsAtClose);
    await expect(connector.ready()).rejects.toThrow('The ledger is closed, because router.close() was called.');

    const db = fakeDatabase();
    const onOpen = jest.fn();
    await new DatabaseConnector({ open: async () => db, logger: silent, onOpen }).close();
    expect(db.close).toHaveBeenCalled();
    expect(onOpen).not.toHaveBeenCalled();
  });

  it('logs an error of onOpen, and the database stays open', async () => {
    const logged: unknown[] = [];
    const connector = new DatabaseConnector({
      open: async () => fakeDatabase(),
      logger: { warn: () => undefined, error: (...line) => void logged.push(line) },
      onOpen: () => {
        throw new Error('no timer');
      },
    });
    expect(await ask(connector)).toEqual({ rows, rowCount: 1 });
    expect(logged).toEqual([[expect.stringContaining('settlement did not start'), { message: 'no timer' }]]);
  });
});
