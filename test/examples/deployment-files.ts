// Reads Dockerfiles, unit files and environment files, as far as docs/examples/deploy uses their languages.

/** An instruction of a Dockerfile. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Joins continued lines, and drops comments. */
export function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
  return lines
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      if (name === '') throw new Error(`This is no instruction: ${line}`);
      return { name, text };
    });
}

/** The image of the last stage. */
export interface Image {
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** @throws {Error} for a command in a shell */
export function imageOf(instructions: readonly Instruction[]): Image {
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const textsOf = (wanted: string): string[] => last.filter(({ name }) => name === wanted).map(({ text }) => text);
  const [command = '[]'] = textsOf('CMD');
  const [healthcheck = '[]'] = textsOf('HEALTHCHECK');
  return {
    env: Object.fromEntries(textsOf('ENV').map((text) => text.split('='))),
    user: textsOf('USER')[0] ?? 'root',
    command: execForm(command),
    healthcheck: execForm(healthcheck.replace(/^(?:--\S+ )*CMD /, '')),
  };
}

function execForm(text: string): readonly string[] {
  try {
    return JSON.parse(text) as string[];
  } catch (cause) {
    throw new Error(`Use the exec form, a JSON array: ${text}`, { cause });
  }
}

/** The values of a systemd unit, by section and name. */
export function sectionsOf(unit: string): Record<string, Record<string, string[]> | undefined> {
  const sections: Record<string, Record<string, string[]>> = {};
  let current: Record<string, string[]> = {};
  for (const line of unit.split('\n')) {
    const [, section] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (section !== undefined) {
      current = {};
      sections[section] = current;
    } else if (name !== undefined) {
      current[name] ??= [];
      current[name].push(value ?? '');
    } else if (!/^(?:#.*)?$/.test(line)) throw new Error(`This is no line of a unit: ${line}`);
  }
  return sections;
}

/** The variables of an environment file. */
export const linesOf = (text: string): [name: string, value: string][] =>
  text
    .split('\n')
    .filter((line) => !/^(?:#.*)?$/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
