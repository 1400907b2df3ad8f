import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { jest } from '@jest/globals';
import { DatabaseConnector } from '../../../src/ledger/database/database-connector.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
/** Node reports its warnings to the main process object, not to the one that Jest provides. */
const ownProcess: NodeJS.Process = runInThisContext('process');

const never = (): Promise<never> => new Promise(() => undefined);
const silent = { warn: () => undefined, error: () => undefined };

describe('a database connector whose database does not open', () => {
  it('keeps no memory for calls that timed out, however many', async () => {
    const connector = new DatabaseConnector({ open: never, logger: silent, timing: { openWaitMs: 1 } });
    const ask = async (): Promise<number> => {
      for (let round = 0; round < 10; round += 1) {
        await Promise.allSettled(Array.from({ length: 1_000 }, () => connector.query('select 1')));
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const warned = jest.fn();
    ownProcess.on('warning', warned);
    await ask();
    const before = await ask();
    expect(((await ask()) - before) / 10_000).toBeLessThan(100);
    ownProcess.off('warning', warned);
    expect(warned).not.toHaveBeenCalledWith(expect.objectContaining({ name: 'MaxListenersExceededWarning' }));
  });
});
