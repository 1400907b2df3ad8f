// npm run test:repeat -- [--times 5] [--burners 4] [--workers 1] [--order reverse] [--full]
// Runs `npm test` (or `npm run test:full`) several times next to processes that keep processors busy, and lists every test
// that failed in any run. Exits with 1 if there is one.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    burners: { type: 'string', default: '0' },
    workers: { type: 'string' },
    order: { type: 'string', default: 'longest-first' },
    full: { type: 'boolean', default: false },
  },
});
const times = requireCount('times', values.times, 1);
const burnerCount = requireCount('burners', values.burners, 0);
const workers = values.workers === undefined ? [] : [`--maxWorkers=${requireCount('workers', values.workers, 1)}`];
if (!['longest-first', 'reverse'].includes(values.order)) {
  throw new Error(`--order must be longest-first or reverse, not ${values.order}.`);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'express-intents-repeat-'));
/** @type {Map<string, number>} the failed tests, each with its number of failed runs */
const failures = new Map();

function requireCount(name, text, least) {
  const count = Number(text);
  if (!Number.isInteger(count) || count < least) throw new Error(`--${name} must be an integer of at least ${least}.`);
  return count;
}

/** Keeps one processor busy until this process ends and its pipe closes. */
function startBurner() {
  const code =
    'process.stdin.on("end",()=>process.exit()).resume();setInterval(()=>{const e=Date.now()+50;while(Date.now()<e);},0)';
  return spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'ignore', 'inherit'] });
}

/** @returns {Promise<{ code: number | null, failed: string[], tests: number, output: string }>} */
async function runOnce() {
  const outputFile = path.join(folder, 'result.json');
  rmSync(outputFile, { force: true });
  const script = values.full ? 'test:full' : 'test';
  // Node runs the script of npm, which needs no shell.
  const args = [process.env.npm_execpath, 'run', script, '--', '--json', `--outputFile=${outputFile}`, ...workers];
  const env = { ...process.env, TEST_ORDER: values.order };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, printed] = ['', ''];
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  // Without a result a step before jest failed. Compilers print their errors to stdout.
  if (!existsSync(outputFile)) return { code, failed: [], tests: 0, output: printed + output };
  const { testResults, numTotalTests } = JSON.parse(readFileSync(outputFile, 'utf8'));
  const failed = testResults.flatMap(({ name, message, assertionResults }) => {
    const file = path.relative(root, name);
    const titles = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${file}: ${fullName}`);
    return titles.length === 0 && message !== '' ? [`${file}: the file itself`] : titles;
  });
  return { code, failed, tests: numTotalTests, output };
}

/** Lines of a green run that indicate a fault. */
const warning = /Warning:|failed to exit gracefully|did not exit|open handle|console\.(?:log|warn|error|info)/;

const burners = Array.from({ length: burnerCount }, startBurner);
let isGreen = true;
try {
  for (let index = 1; index <= times; index += 1) {
    const startMs = performance.now();
    const { code, failed, tests, output } = await runOnce();
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
    const warnings = output.split('\n').filter((line) => warning.test(line));
    console.log(
      `run ${index}: exit ${code}, ${tests} tests, ${failed.length} failed, ${warnings.length} warnings, ${seconds} s`,
    );
    for (const line of warnings) console.log(`  warning: ${line.trim()}`);
    for (const name of new Set(failed)) failures.set(name, (failures.get(name) ?? 0) + 1);
    if (code !== 0 || warnings.length > 0) isGreen = false;
    if (code !== 0) console.log(output.slice(-20_000));
  }
} finally {
  for (const burner of burners) burner.kill();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, count] of failures) console.log(`failed in ${count} of ${times} runs: ${name}`);
console.log(isGreen ? `always green in ${times} runs` : 'not always green');
process.exitCode = isGreen ? 0 : 1;
