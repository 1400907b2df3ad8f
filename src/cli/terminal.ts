import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

/** Where a command reads from and prints to. */
export interface Terminal {
  out(line: string): void;
  error(line: string): void;
  /** Whether each of the two takes colours. */
  readonly colors: { readonly out: boolean; readonly error: boolean };
  /** How many characters a line has; undefined where nobody looks at it. */
  readonly columns: number | undefined;
  /** Tells what goes on at the moment, where somebody looks; without a text that is over. */
  progress(text?: string): void;
  /** Prints a line of many, and resolves when there may be another. */
  stream(line: string): Promise<void>;
  /** The lines of standard input, as they come. */
  inputLines(): AsyncIterable<string>;
  /** Resolves when the process is told to end. */
  interrupted(): Promise<void>;
}

/** The formats that are used here. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Puts a text into colour, on a stream or not: who prints it knows whether it takes colours. */
export function paint(style: Style, text: string, hasColors = true): string {
  return hasColors ? styleText(style, text, { validateStream: false }) : text;
}

/** As the stream and `NO_COLOR`, `NODE_DISABLE_COLORS` and `FORCE_COLOR` have it, which Node knows. */
function takesColors(stream: NodeJS.WriteStream): boolean {
  return styleText('red', ' ', { stream, validateStream: true }) !== ' ';
}

const clearLine = '\r\u001b[K';

/** The terminal, or the files and pipes, of this process. */
export function processTerminal(): Terminal {
  const stdout = process.stdout;
  const stderr = process.stderr;
  // A reader who has seen enough, such as `head`, is told to who writes.
  stdout.on('error', () => undefined);
  let shown: string | undefined;
  const progress = (text?: string): void => {
    if (!stderr.isTTY || text === shown) return;
    shown = text;
    stderr.write(text === undefined ? clearLine : clearLine + paint('dim', `${text} ...`, takesColors(stderr)));
  };
  return {
    out: (line) => {
      progress();
      console.log(line);
    },
    error: (line) => {
      progress();
      console.error(line);
    },
    colors: { out: takesColors(stdout), error: takesColors(stderr) },
    columns: stdout.isTTY ? stdout.columns : undefined,
    progress,
    stream: (line) =>
      new Promise((resolve, reject) => {
        stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    // Made when it is read, and no sooner: lines that come before anybody reads would be lost.
    inputLines: async function* () {
      yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    },
    interrupted: () =>
      new Promise((resolve) => {
        // Once each: who is told a second time ends at once.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      }),
  };
}
