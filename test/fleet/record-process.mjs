// Loaded first into each process of a site: writes its output to a file.
import { appendFileSync } from 'node:fs';
import path from 'node:path';

const { FLEET_NAME, FLEET_RECORD } = process.env;

if (FLEET_NAME) {
  const file = path.join(FLEET_RECORD, `${FLEET_NAME}.log`);
  process.stderr.write = (text) => {
    appendFileSync(file, text);
    return true;
  };
  process.on('uncaughtExceptionMonitor', (error) => appendFileSync(file, `CRASHED ${error?.stack}\n`));
}
