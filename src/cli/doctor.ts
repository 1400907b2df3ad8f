import { type Command, Help, InvalidArgumentError } from 'commander';
import type { Cli } from './cli.js';
import type { Level } from './doctor/check.js';
import type { Examined } from './doctor/examine.js';
import { addEnvFile, type EnvironmentOptions, readEnvironment } from './environment.js';
import { addExamples } from './examples.js';
import { printable, printableJson } from './printable.js';
import { paint, type Style, type Terminal } from './terminal.js';

interface DoctorFlags extends EnvironmentOptions {
  readonly url?: URL;
  readonly offline?: boolean;
  readonly json?: boolean;
  readonly login: boolean;
  readonly webhook?: boolean;
  readonly allowEmbeddedLedger?: boolean;
}

/** `doctor`: says what is wrong with a set-up, and what mends it. */
export function addDoctor(program: Command, { terminal, world, action }: Cli): void {
  const command = program
    .command('doctor')
    .summary('check a set-up, and say what mends it')
    .description(
      'Checks what a site would start with, and what is around it: settings, database, payment service, key file, ' +
        'proxy, webhook, wallet. It changes nothing. A line for each, ok, warning or fault, and under it what mends it. ' +
        'Exit code 1 when there is a fault.',
    )
    .option(
      '--url <url>',
      'where the site runs, such as https://shop.example, to look at it from outside',
      parseSiteUrl,
    )
    .option('--offline', 'leave out what needs the network')
    .option('--no-login', 'the site has `login: false`')
    .option('--webhook', 'the site has `webhook: true`; assumed where INTENT_SERVICE_KEY is set')
    .option('--allow-embedded-ledger', 'the site has `allowEmbeddedLedger: true`')
    .option('--json', 'print it as JSON, for programs')
    .action(action((flags: DoctorFlags) => runDoctor(flags, { terminal, world })));
  addEnvFile(command);
  addExamples(command, [
    ['doctor --env-file .env', 'before the site starts'],
    ['doctor --env-file .env --url https://shop.example', 'once it runs, behind its proxy'],
  ]);
}

async function runDoctor(flags: DoctorFlags, { terminal, world }: Pick<Cli, 'terminal' | 'world'>): Promise<number> {
  const env = readEnvironment(flags);
  // Clients and drivers and all, of which no other command needs so many.
  const { examine } = await import('./doctor/examine.js');
  const examination = {
    env,
    options: {
      login: flags.login,
      webhook: flags.webhook ?? !!env.INTENT_SERVICE_KEY,
      allowEmbeddedLedger: flags.allowEmbeddedLedger,
    },
    siteUrl: flags.url,
    isOffline: flags.offline ?? false,
  };
  const examined: Examined[] = [];
  terminal.progress('looking');
  for await (const one of examine(examination, world)) {
    examined.push(one);
    if (flags.json) continue;
    printExamined(one, terminal);
    terminal.progress('looking');
  }
  terminal.progress();
  const count = (level: Level): number =>
    examined.flatMap(({ findings }) => findings).filter((one) => one.level === level).length;
  const [faults, warnings] = [count('fault'), count('warning')];
  if (flags.json) printJson(examined, { faults, warnings }, terminal);
  else {
    printSkipped(examined, terminal);
    printSummary(faults, warnings, terminal);
  }
  return faults > 0 ? 1 : 0;
}

const styles: Readonly<Record<Level, Style>> = { ok: 'green', skipped: 'dim', warning: 'yellow', fault: 'red' };
/** Of a level and of the name of a check, with what parts them. */
const [levelWidth, nameWidth] = [9, 13];

function printExamined({ check, findings }: Examined, { out, colors, columns }: Terminal): void {
  const indent = ' '.repeat(levelWidth + nameWidth);
  for (const finding of findings) {
    const { level, text } = finding;
    // Told at the end, with those of the same reason.
    if (level === 'skipped') continue;
    const [first = '', ...rest] = wrapped(text, columns, indent);
    out(`${paint(styles[level], level.padEnd(levelWidth), colors.out)}${check.padEnd(nameWidth)}${first}`);
    for (const line of rest) out(indent + line);
    if (!('mend' in finding)) continue;
    for (const line of wrapped(`-> ${finding.mend}`, columns, indent)) out(indent + paint('cyan', line, colors.out));
  }
}

/** What was not looked at, by the reason why not. */
function printSkipped(examined: readonly Examined[], { out, colors, columns }: Terminal): void {
  const skipped = examined.flatMap(({ check, findings }) =>
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

/** Only where somebody looks: what goes into a file keeps its lines. */
function wrapped(text: string, columns: number | undefined, indent: string): string[] {
  const width = columns === undefined ? 0 : columns - indent.length;
  return width < 30 ? [printable(text)] : new Help().boxWrap(printable(text), width).split('\n');
}

function printSummary(faults: number, warnings: number, { out, colors }: Terminal): void {
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  const parts = [
    ...(faults > 0 ? [paint('red', counted(faults, 'fault'), colors.out)] : []),
    ...(warnings > 0 ? [paint('yellow', counted(warnings, 'warning'), colors.out)] : []),
  ];
  out('');
  out(parts.length > 0 ? `${parts.join(', ')}.` : paint('green', 'All is well.', colors.out));
}

function printJson(
  examined: readonly Examined[],
  counts: { readonly faults: number; readonly warnings: number },
  { out }: Terminal,
): void {
  const findings = examined.flatMap(({ check, findings: each }) => each.map((finding) => ({ check, ...finding })));
  out(printableJson({ ok: counts.faults === 0, ...counts, findings }));
}

function parseSiteUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.username) return url;
  throw new InvalidArgumentError('It must be the origin of the site, such as https://shop.example.');
}
