import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { systemHost } from '../../src/cli/command.js';
import { checks } from '../../src/cli/doctor/run-checks.js';
import { createProgram } from '../../src/cli/program.js';

const program = createProgram({
  terminal: {
    out: () => undefined,
    error: () => undefined,
    colors: { out: false, error: false },
    columns: undefined,
    progress: () => undefined,
    writeLine: async () => undefined,
    inputLines: async function* () {},
    interrupted: async () => undefined,
  },
  host: systemHost,
  action: () => async () => undefined,
});

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = read('cli.md');
const doctorPage = read('doctor.md');

/** The section of a command. */
function sectionOf(text: string, name: string): string {
  return text.split(/^## /m).find((section) => section.startsWith(`${name}\n`)) ?? '';
}

/** A command and its subcommands. */
const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** The differences between the help and the pages. */
function differences(text: string, doctorText = doctorPage): string[] {
  return program.commands.flatMap((command) => {
    const section = sectionOf(text, command.name()) + (command.name() === 'doctor' ? doctorText : '');
    const all = withSubcommands(command);
    const options = new Set(all.flatMap((one) => one.options.map(({ flags }) => `\`${flags}\``)));
    const named = [...section.matchAll(/^\| (`--[^`]*`) \|/gm)].map(([, flags = '']) => flags);
    const subcommands = command.commands.map((one) => {
      const needed = one.registeredArguments.map((argument) => ` <${argument.name()}>`).join('');
      return `\`${command.name()} ${one.name()}${needed}\``;
    });
    const namedCommands = [...section.matchAll(/^\| (`[a-z][^`]*`) \| [a-z]/gm)].map(([, name = '']) => name);
    return [
      ...(section === '' ? [`${command.name()} has no section`] : []),
      ...[...options]
        .filter((flags) => !named.includes(flags))
        .map((flags) => `${command.name()}: ${flags} is missing`),
      ...named.filter((flags) => !options.has(flags)).map((flags) => `${command.name()}: there is no ${flags}`),
      ...subcommands.filter((name) => !namedCommands.includes(name)).map((name) => `${name} is missing`),
      ...(subcommands.length > 0
        ? namedCommands.filter((name) => !subcommands.includes(name)).map((name) => `there is no ${name}`)
        : []),
    ];
  });
}

describe('docs/cli.md and docs/doctor.md', () => {
  it('describes every command and option of the help, and no other', () => {
    expect(program.commands.map((command) => command.name())).toHaveLength(5);
    expect(differences(page)).toEqual([]);
  });

  it('doctor.md lists every check in order', () => {
    const rows = [...sectionOf(doctorPage, 'Checks').matchAll(/^\| `([a-z ]+)` \| /gm)].map(([, name]) => name);
    expect(rows).toEqual(checks.map(({ name }) => name));
  });
});

it('the help describes every command and every option', () => {
  for (const command of withSubcommands(program)) {
    expect([command.name(), command.description()]).toEqual([command.name(), expect.stringMatching(/^.{15,}[.:]$/s)]);
    for (const option of command.options) expect(option.description).toMatch(/^.{8,}$/);
  }
});
