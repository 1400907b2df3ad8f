import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../package/consumer-project.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

/** Only a benchmark that hangs takes this long, even on a busy machine. */
const limitMs = 900_000;

const short = ['--rounds', '1', '--ms', '50', '--warm-ms', '50'];

// Each benchmark runs and prints its table. The measured values are not checked. The servers of `create payment` create real
// intents: the benchmark fails if a response is not 201.
test.each<[string, string[], RegExp]>([
  ['run.mjs', [...short, '--busy', '--only', 'create payment', '--out', temporaryFolder()], /^\| usual \|/m],
  ['run.mjs', [...short, '--busy', '--only', 'streams', '--clients', '200', '--out', temporaryFolder()], /\| 200 \|$/m],
  ['ed25519.mjs', short, /^\| tweetnacl \|/m],
  ['fleet.mjs', [...short, '--ms', '300', '--per-second', '40', '--only', 'status'], /^\| status \|.*\d\.\d\d \|$/m],
  ['capacity.mjs', ['--backlog', '100', '--service-ms', '5', '--outage-ms', '1000'], /^100 of 100 settled in /],
  ['soak.mjs', ['--count', '2000', '--windows', '4', '--out', temporaryFolder()], /^2000 payments\. The heap has /m],
  [
    'soak.mjs',
    ['--traffic', 'pipelined-events', '--minutes', '0.6', '--out', temporaryFolder()],
    /^0\.\d min: \d+ requests, \d+ calls and [1-9]\d* message streams/m,
  ],
  [
    'soak.mjs',
    ['--traffic', 'settlements', '--minutes', '1', '--per-second', '10', '--out', temporaryFolder()],
    /^([1-9]\d*) created, \1 fulfilled$/m,
  ],
])(
  'bench/%s %j prints its results',
  async (script, args, expected) => {
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(root, 'bench', script), ...args], {
      timeout: limitMs,
    });
    expect(stdout).toMatch(expected);
  },
  limitMs,
);
