import { ServerResponse } from 'node:http';
import { format } from 'node:util';
import { secretsIn } from './secret-forms.js';

// Runs in front of every test file. The rule: nothing secret is ever printed, nor sent by a server of this process, but
// for the one answer that hands a client secret over, and the cookies that are the browser's own. Whoever breaks it fails.

const leaks: string[] = [];

/** The leaks since it was asked last; for the test of this very file. */
export function takeLeaks(): string[] {
  return leaks.splice(0);
}

/** Notes what is secret in a text. */
export function look(where: string, text: string): void {
  for (const secret of secretsIn(text)) leaks.push(`${where}: ${secret}`);
}

/** What an answer says, without what it may. */
function sayable(head: string, body: string): string {
  const lines = head.replace(/^set-cookie: (?:__Host-)?intent(?:-session)?=[^\r]*\r$/gim, '');
  const isCreated = head.startsWith('HTTP/1.1 201 ') && /^\{"client_secret":"\w+"\}$/.test(body);
  return isCreated ? lines : `${lines}\n${body}`;
}

/** Node's own modules are the same for all test files of a process: they are changed once, and tell the file that runs. */
const listening = Symbol.for('express-intents: who looks for leaks');
type Listening = { [listening]?: (where: string, text: string) => void };

/** The head as it goes out; empty as long as it does not. */
const headOf = (res: ServerResponse): string => String((res as { _header?: unknown })._header ?? '');

/** Looks at what the servers of this process answer. */
function watchAnswers(): void {
  const prototype = ServerResponse.prototype as ServerResponse & Listening;
  const isChanged = prototype[listening] !== undefined;
  prototype[listening] = look;
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
      // A stream may have no end.
      if (headOf(this).includes('text/event-stream')) prototype[listening]?.('a stream', String(args[0]));
      else note(this, args[0]);
      return taken;
    },
    end(this: ServerResponse, ...args: Parameters<typeof end>) {
      const body = note(this, args[0]);
      written.delete(this);
      const ended = end.apply(this, args);
      // To a client who has left nothing goes out, not even a head.
      const head = headOf(this);
      if (head !== '') prototype[listening]?.('an answer', sayable(head, body));
      return ended;
    },
  });
}

type Stream = { write(...args: unknown[]): boolean } & Listening;

/** Looks at what is written to a stream. */
export function watchStream(stream: Stream): void {
  const isChanged = stream[listening] !== undefined;
  stream[listening] = look;
  if (isChanged) return;
  const write = stream.write.bind(stream);
  stream.write = (...args) => {
    stream[listening]?.('a print', String(args[0]));
    return write(...args);
  };
}

/** Looks at what is printed by a console, which in a test is not the streams'. */
export function watchConsole(target: Pick<Console, 'log' | 'info' | 'warn' | 'error' | 'debug' | 'trace'>): void {
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    const print = target[name].bind(target);
    target[name] = (...args: unknown[]) => {
      look(`console.${name}`, format(...args));
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
