import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { processTerminal } from '../../src/cli/terminal.js';

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
