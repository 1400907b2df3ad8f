import { type Command, Help, InvalidArgumentError } from 'commander';
import { printable } from '../printable.js';
import {
  addEnvFile,
  addExamples,
  type CommandContext,
  type EnvironmentOptions,
  envFileArgument,
  readEnvironment,
} from './command.js';
import type { Level } from './doctor/check.js';
import type { CheckResult } from './doctor/run-checks.js';
import { paint, printableJson, type Style, type Terminal } from './terminal.js';

interface DoctorFlags extends EnvironmentOptions {
  readonly url?: URL;
  readonly offline?: boolean;
  readonly json?: boolean;
  readonly login: boolean;
  readonly webhook?: boolean;
  readonly allowFolderInProduction?: boolean;
}

export function addDoctor(program: Command, { terminal, host, action }: CommandContext): void {
  const command = program
    .command('doctor')
    .summary('check the setup and print a fix for each problem')
    .description(
      'Checks the settings of a site, the database, the sequencer, the key file, the proxy, the ' +
        'webhook and the wallet. It changes nothing. Each check prints ok, or warnings and errors with their ' +
        'fixes. Skipped checks are listed at the end, with the reason. The exit code is 1 if there is an error.',
    )
    .option(
      '--url <url>',
      'origin of the running site, such as https://shop.example, to check it from outside',
      parseSiteUrl,
    )
    .option('--offline', 'omit the checks that need the network')
    .option('--no-login', 'the site has `login: false`')
    .option('--webhook', 'the site has `webhook: true`; assumed if INTENT_WEBHOOK_PUBLIC_KEY is set')
    .option('--allow-folder-in-production', 'the site has `ledger: { allowFolderInProduction: true }`')
    .option('--json', 'print JSON, for programs')
    .action(action((flags: DoctorFlags) => runDoctor(flags, { terminal, host })));
  addEnvFile(command);
  addExamples(command, [
    ['doctor --env-file .env', 'before the site starts'],
    ['doctor --env-file .env --url https://shop.example', 'while the site runs behind its proxy'],
  ]);
}

async function runDoctor(
  flags: DoctorFlags,
  { terminal, host }: Pick<CommandContext, 'terminal' | 'host'>,
): Promise<number> {
  const env = readEnvironment(flags);
  // Loaded on demand: no other command needs these clients.
  const { checks, runChecks } = await import('./doctor/run-checks.js');
  const nameWidth = Math.max(...checks.map(({ name }) => name.length)) + 4;
  const setup = {
    env,
    envFile: envFileArgument(flags),
    options: {
      login: flags.login,
      webhook: flags.webhook ?? !!env.INTENT_WEBHOOK_PUBLIC_KEY,
      ledger: { allowFolderInProduction: flags.allowFolderInProduction },
    },
    siteUrl: flags.url,
    isOffline: flags.offline ?? false,
  };
  const results: CheckResult[] = [];
  terminal.progress('checking');
  for await (const result of runChecks(setup, host)) {
    results.push(result);
    if (flags.json) continue;
    printResult(result, nameWidth, terminal);
    terminal.progress('checking');
  }
  terminal.progress();
  const count = (level: Level): number =>
    results.flatMap(({ findings }) => findings).filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  if (flags.json) printJson(results, { errors, warnings }, terminal);
  else {
    printSkipped(results, terminal);
    printSummary(errors, warnings, terminal);
  }
  return errors > 0 ? 1 : 0;
}

const styles: Readonly<Record<Level, Style>> = { ok: 'green', skipped: 'dim', warning: 'yellow', error: 'red' };
const levelWidth = 9;

function printResult({ check, findings }: CheckResult, nameWidth: number, { out, colors, columns }: Terminal): void {
  const indent = ' '.repeat(levelWidth + nameWidth);
  for (const finding of findings) {
    const { level, text } = finding;
    // Printed at the end, by reason.
    if (level === 'skipped') continue;
    const [first = '', ...rest] = wrapped(text, columns, indent);
    out(`${paint(styles[level], level.padEnd(levelWidth), colors.out)}${check.padEnd(nameWidth)}${first}`);
    for (const line of rest) out(indent + line);
    if (!('fix' in finding)) continue;
    for (const line of wrapped(`-> ${finding.fix}`, columns, indent)) out(indent + paint('cyan', line, colors.out));
  }
}

function printSkipped(results: readonly CheckResult[], { out, colors, columns }: Terminal): void {
  const skipped = results.flatMap(({ check, findings }) =>
    findings.flatMap(({ level, text }) => (level === 'skipped' ? [{ check, text }] : [])),
  );
  const indent = ' '.repeat(levelWidth);
  let head = 'skipped'.padEnd(levelWidth);
  for (const reason of new Set(skipped.map(({ text }) => text))) {
    const names = skipped.filter(({ text }) => text === reason).map(({ check }) => check);
    for (const line of wrapped(`${names.join(', ')}: ${reason}`, columns, indent)) {
      out(paint('dim', head + line, colors.out));
      head = indent;
    }
  }
}

/** Wraps lines on a terminal only: a file keeps them whole. */
function wrapped(text: string, columns: number | undefined, indent: string): string[] {
  const width = columns === undefined ? 0 : columns - indent.length;
  return width < 30 ? [printable(text)] : new Help().boxWrap(printable(text), width).split('\n');
}

function printSummary(errors: number, warnings: number, { out, colors }: Terminal): void {
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  const parts = [
    ...(errors > 0 ? [paint('red', counted(errors, 'error'), colors.out)] : []),
    ...(warnings > 0 ? [paint('yellow', counted(warnings, 'warning'), colors.out)] : []),
  ];
  out('');
  out(parts.length > 0 ? `${parts.join(', ')}.` : paint('green', 'No problems found.', colors.out));
}

function printJson(
  results: readonly CheckResult[],
  counts: { readonly errors: number; readonly warnings: number },
  { out }: Terminal,
): void {
  const findings = results.flatMap(({ check, findings: each }) => each.map((finding) => ({ check, ...finding })));
  out(printableJson({ ok: counts.errors === 0, ...counts, findings }));
}

function parseSiteUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url;
  throw new InvalidArgumentError('It must be the origin of the site, such as https://shop.example.');
}
