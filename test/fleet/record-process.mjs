// Is loaded into each process of a site before anything else: what it prints goes to a file, and how much it holds is written
// there when it is asked by SIGUSR2.
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const { FLEET_NAME, FLEET_RECORD } = process.env;

if (FLEET_NAME) {
  const file = path.join(FLEET_RECORD, FLEET_NAME);
  process.stderr.write = (text) => {
    appendFileSync(`${file}.log`, text);
    return true;
  };
  process.on('uncaughtExceptionMonitor', (error) => appendFileSync(`${file}.log`, `CRASHED ${error?.stack}\n`));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed } = process.memoryUsage();
    writeFileSync(`${file}.holds`, JSON.stringify({ heapUsed, resources: process.getActiveResourcesInfo().length }));
  });
}
