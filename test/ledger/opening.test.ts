import { jest } from '@jest/globals';
import type { Database } from '../../src/ledger/database/database.js';
import { Opening } from '../../src/ledger/database/database-connector.js';

function fakeDatabase(): Database {
  const never = (): never => {
    throw new Error('Nobody asks it anything here.');
  };
  return { isShared: true, query: never, transaction: never, close: jest.fn(async () => undefined) };
}

const silent = { warn: () => undefined, error: () => undefined };

describe('the opening of a database', () => {
  it('is waited for by whoever needs it', async () => {
    const db = fakeDatabase();
    let open: (db: Database) => void = () => undefined;
    const opening = new Opening({
      open: () =>
        new Promise((resolve) => {
          open = resolve;
        }),
      logger: silent,
    });
    const waiting = opening.database();
    open(db);
    expect(await waiting).toBe(db);
    await opening.ready();
  });

  it('is waited for no longer than a request can wait', async () => {
    const opening = new Opening({ open: () => new Promise(() => undefined), logger: silent, patienceMs: 20 });
    expect(await opening.database().catch((error) => error)).toMatchObject({ code: 'ledger_unavailable', status: 503 });
  });

  it('is tried again until it succeeds, and told once', async () => {
    const db = fakeDatabase();
    const lines: string[] = [];
    const logger = { warn: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) };
    let tries = 0;
    const opening = new Opening({
      open: async () => {
        tries += 1;
        if (tries < 4) throw new Error('the database is still asleep');
        return db;
      },
      logger,
      retryMs: 1,
    });
    const words = 'ledger cannot be opened, and is tried again: the database is still asleep';
    await expect(opening.ready()).rejects.toMatchObject({ code: 'ledger_unavailable', message: `The ${words}` });
    // And so on with the next one, until it succeeds.
    await expect(opening.ready()).rejects.toThrow(words);
    expect(await opening.database()).toBe(db);
    await opening.ready();
    expect(tries).toBe(4);
    expect(lines).toEqual([`express-intents: the ${words}`, 'express-intents: the ledger is open now.']);
  });

  it('says why not to the log and not to whoever needs it', async () => {
    const open = async (): Promise<Database> => {
      throw new Error('password authentication failed for user "shop"');
    };
    const opening = new Opening({ open, logger: silent, patienceMs: 20, retryMs: 1_000 });
    const error = await opening.database().catch((error) => error);
    expect(error).toMatchObject({ message: 'The ledger is not open.' });
    expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('password') });
    await opening.close();
  });

  it('ends with the ledger: nothing is tried any more, and what comes late is closed', async () => {
    let tries = 0;
    const opening = new Opening({
      open: async () => {
        tries += 1;
        throw new Error('down');
      },
      logger: silent,
      retryMs: 5,
      patienceMs: 20,
    });
    await opening.ready().catch(() => undefined);
    await opening.close();
    const triesAtClose = tries;
    expect(await opening.database().catch((error) => error)).toMatchObject({ code: 'ledger_unavailable' });
    expect(tries).toBe(triesAtClose);
    await expect(opening.ready()).rejects.toThrow('The ledger is closed.');

    const db = fakeDatabase();
    const late = new Opening({ open: async () => db, logger: silent });
    const use = jest.fn();
    const closed = late.close();
    late.whenOpen(use);
    await closed;
    expect(db.close).toHaveBeenCalled();
    expect(use).not.toHaveBeenCalled();
  });
});
