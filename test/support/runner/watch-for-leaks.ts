import { ServerResponse } from 'node:http';
import { format } from 'node:util';
import { secretsIn } from './secret-forms.js';

// Runs before every test file. The rule: no secret is printed or sent by a server of this process, except a client secret in
// the response that creates it, and the browser's own cookies. A test that violates it fails.

const leaks: string[] = [];

/** Returns the leaks since the last call; for the test of this file. */
export function takeLeaks(): string[] {
  return leaks.splice(0);
}

/** Records the secrets in a text. */
export function checkForSecrets(where: string, text: string): void {
  for (const secret of secretsIn(text)) leaks.push(`${where}: ${secret}`);
}

/** The content of a response without its allowed secrets. */
function sayable(head: string, body: string): string {
  const lines = head.replace(/^set-cookie: (?:__Host-)?intent(?:-session)?=[^\r]*\r$/gim, '');
  const isCreated = head.startsWith('HTTP/1.1 201 ') && /^\{"client_secret":"\w+"\}$/.test(body);
  return isCreated ? lines : `${lines}\n${body}`;
}

/** Node's modules are shared by all test files of a process: they are patched once, and report to the current file. */
const listening = Symbol.for('express-intents: leak watcher');
type Listening = { [listening]?: (where: string, text: string) => void };

/** The head as it is sent, or empty before. */
const headOf = (res: ServerResponse): string => String((res as { _header?: unknown })._header ?? '');

/** Checks the responses of the servers of this process. */
function watchAnswers(): void {
  const prototype = ServerResponse.prototype as ServerResponse & Listening;
  const isChanged = prototype[listening] !== undefined;
  prototype[listening] = checkForSecrets;
  if (isChanged) return;
  const { end, write } = prototype;
  const written = new WeakMap<ServerResponse, string>();
  const note = (res: ServerResponse, chunk: unknown): string => {
    const text = `${written.get(res) ?? ''}${typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk : ''}`;
    written.set(res, text);
    return text;
  };
  Object.assign(prototype, {
    write(this: ServerResponse, ...args: Parameters<typeof write>) {
      const taken = write.apply(this, args);
      // A stream may never end.
      if (headOf(this).includes('text/event-stream')) prototype[listening]?.('a stream', String(args[0]));
      else note(this, args[0]);
      return taken;
    },
    end(this: ServerResponse, ...args: Parameters<typeof end>) {
      const body = note(this, args[0]);
      written.delete(this);
      const ended = end.apply(this, args);
      // Nothing is sent to a client that has disconnected, not even a head.
      const head = headOf(this);
      if (head !== '') prototype[listening]?.('an answer', sayable(head, body));
      return ended;
    },
  });
}

type Stream = { write(...args: unknown[]): boolean } & Listening;

/** Checks the writes to a stream. */
export function watchStream(stream: Stream): void {
  const isChanged = stream[listening] !== undefined;
  stream[listening] = checkForSecrets;
  if (isChanged) return;
  const write = stream.write.bind(stream);
  stream.write = (...args) => {
    stream[listening]?.('a print', String(args[0]));
    return write(...args);
  };
}

/** Checks the output of a console, which jest does not write to the streams. */
export function watchConsole(target: Pick<Console, 'log' | 'info' | 'warn' | 'error' | 'debug' | 'trace'>): void {
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    const print = target[name].bind(target);
    target[name] = (...args: unknown[]) => {
      checkForSecrets(`console.${name}`, format(...args));
      print(...args);
    };
  }
}

watchAnswers();
watchConsole(console);
for (const stream of [process.stdout, process.stderr]) watchStream(stream as Stream);
afterEach(() => {
  expect(takeLeaks()).toEqual([]);
});
