import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.js';
import { intentId } from '../../support/sites/event-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';

const program = new URL('../support/pipelined-program.mjs', import.meta.url);
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Report {
  /** How many requests have come. */
  readonly seen: number;
  /** How many of their responses a garbage collection leaves. */
  readonly held: number;
}

async function startChild(): Promise<{ origin: string; ask: () => Promise<Report> }> {
  const child = fork(program, { execArgv: ['--max-old-space-size=96', '--expose-gc'] });
  children.push(child);
  const died = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process has died: ${code ?? signal}.`);
  });
  died.catch(() => undefined);
  const answer = async <Message>(): Promise<Message> => (await Promise.race([once(child, 'message'), died]))[0];
  const { port } = await answer<{ port: number }>();
  return {
    origin: `http://127.0.0.1:${port}`,
    ask: () => {
      child.send('report');
      return answer<Report>();
    },
  };
}

const requestsPerConnection = 60;

describe('a process with a small heap outlives pipelined streams, and holds none of their responses', () => {
  test.each([
    ['requests behind an open stream', ''],
    ['requests that a timeout middleware has answered', '?late'],
  ])(
    '%s are all let go',
    async (_, query) => {
      const { origin, ask } = await startChild();
      const path = `/intent/${intentId}/events`;
      // 9,000 requests, of which each held 9 to 24 KiB.
      for (let round = 1; round <= 150; round += 1) {
        const stream = new RawStream(origin, path + query);
        for (let n = 1; n < requestsPerConnection; n += 1) stream.request(path + query);
        await eventually('all requests have come', async () => (await ask()).seen === round * requestsPerConnection);
        stream.socket.destroy();
      }
      await eventually('no response is held', async () => (await ask()).held === 0);
    },
    300_000,
  );
});
