import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { printable } from '../printable.js';

export interface Terminal {
  out(line: string): void;
  error(line: string): void;
  readonly colors: { readonly out: boolean; readonly error: boolean };
  /** Characters per line. Undefined for a file or a pipe. */
  readonly columns: number | undefined;
  /** Shows the current step on a terminal. Without a text: clears the line. */
  progress(text?: string): void;
  /** Prints a line. Resolves when the stream accepts another. */
  writeLine(line: string): Promise<void>;
  inputLines(): AsyncIterable<string>;
  interrupted(): Promise<void>;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export function paint(style: Style, text: string, hasColors = true): string {
  return hasColors ? styleText(style, text, { validateStream: false }) : text;
}

export const printableJson = (value: unknown): string => printable(JSON.stringify(value));

/** Node decides by the stream and by `NO_COLOR`, `NODE_DISABLE_COLORS` and `FORCE_COLOR`. */
function takesColors(stream: NodeJS.WriteStream): boolean {
  return styleText('red', ' ', { stream, validateStream: true }) !== ' ';
}

/** Prints the first error of the output, such as a full disk, to stderr, and makes the process exit with code 1. */
function reportFailedOutput(stdout: NodeJS.WriteStream): void {
  let hasFailed = false;
  stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    // A reader such as `head` may stop early, which Windows reports as EOF. `writeLine` rejects then.
    if (hasFailed || code === 'EPIPE' || code === 'EOF') return;
    hasFailed = true;
    // The errors of the last writes are emitted after the command has ended.
    process.once('exit', () => {
      process.exitCode ||= 1;
      console.error(`Writing to stdout failed (${code}): the output is incomplete. Check where it is redirected to.`);
    });
  });
}

const clearLine = '\r\u001b[K';

export function processTerminal(): Terminal {
  const stdout = process.stdout;
  const stderr = process.stderr;
  reportFailedOutput(stdout);
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
    writeLine: (line) =>
      new Promise((resolve, reject) => {
        stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    // Created on the first read: an earlier interface would drop lines.
    inputLines: async function* () {
      yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    },
    interrupted: () =>
      new Promise((resolve) => {
        // Only once for each signal: the second one ends the process immediately.
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      }),
  };
}
