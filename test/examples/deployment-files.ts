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
  /** The images of all stages. */
  readonly bases: readonly string[];
  /** What all stages copy from the folder of the Dockerfile. */
  readonly copied: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly ports: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** @throws {Error} for an unknown instruction, a missing stage, and a command in a shell */
export function imageOf(instructions: readonly Instruction[]): Image {
  const stages: string[] = [];
  const image = { bases: [] as string[], copied: [] as string[], env: {} as Record<string, string>, user: 'root' };
  let last = { ports: [] as string[], command: [] as readonly string[], healthcheck: [] as readonly string[] };
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      const [, base = '', stage = ''] = /^(\S+)(?: AS (\S+))?$/.exec(text) ?? [];
      image.bases.push(base);
      stages.push(stage);
      [image.env, image.user] = [{}, 'root'];
      last = { ports: [], command: [], healthcheck: [] };
    } else if (name === 'COPY') {
      const [, stage] = /^--from=(\S+)/.exec(text) ?? [];
      if (stage === undefined) image.copied.push(...text.split(' ').slice(0, -1));
      else if (!stages.includes(stage)) throw new Error(`There is no stage ${stage}.`);
    } else if (name === 'ENV') Object.assign(image.env, Object.fromEntries([text.split('=')]));
    else if (name === 'USER') image.user = text;
    else if (name === 'EXPOSE') last.ports.push(text);
    else if (name === 'CMD') last.command = execForm(text);
    else if (name === 'HEALTHCHECK') last.healthcheck = execForm(text.replace(/^(?:--\S+ )*CMD /, ''));
    else if (!['WORKDIR', 'RUN'].includes(name)) throw new Error(`There is no instruction ${name}.`);
  }
  return { ...image, ...last };
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
