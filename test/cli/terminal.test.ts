import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { printError } from '../../src/cli/command.js';
import { processTerminal, type Terminal } from '../../src/cli/terminal.js';
import { IntentError } from '../../src/errors.js';

it('inputLines() loses no line that arrives before it is read', async () => {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from(['one\n', 'two\n']) });
  try {
    const lines = processTerminal().inputLines();
    await wait(50);
    const read: string[] = [];
    for await (const line of lines) read.push(line);
    expect(read).toEqual(['one', 'two']);
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
  }
});

it.each([
  ['another error in one line', new Error('Bad token "\nforged\u001b[2J"'), ['Bad token "\\u000aforged\\u001b[2J"']],
  ['its own error in lines', new IntentError('ledger_locked', 'One.\nTwo\u202e.'), ['One.', 'Two\\u202e.']],
])('printError() prints %s, with control characters escaped', (_name, error, expected) => {
  const lines: string[] = [];
  const terminal = { progress: () => undefined, error: (line: string) => void lines.push(line) };
  expect(printError(error, terminal as unknown as Terminal)).toBe(1);
  expect(lines).toEqual(expected);
});
