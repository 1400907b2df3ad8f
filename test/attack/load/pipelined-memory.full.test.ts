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
  /** The number of received requests. */
  readonly seen: number;
  /** The number of their responses that survive a garbage collection. */
  readonly held: number;
}

async function startChild(): Promise<{ origin: string; report: () => Promise<Report> }> {
  const child = fork(program, { execArgv: ['--max-old-space-size=96', '--expose-gc'] });
  children.push(child);
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process has exited: ${code ?? signal}.`);
  });
  exited.catch(() => undefined);
  const answer = async <Message>(): Promise<Message> => (await Promise.race([once(child, 'message'), exited]))[0];
  const { port } = await answer<{ port: number }>();
  return {
    origin: `http://127.0.0.1:${port}`,
    report: () => {
      child.send('report');
      return answer<Report>();
    },
  };
}

const requestsPerConnection = 60;

describe('pipelined streams in a process with a small heap', () => {
  test.each([
    ['requests behind an open stream', ''],
    ['requests that a timeout middleware has answered', '?late'],
  ])(
    'are released: %s',
    async (_, query) => {
      const { origin, report } = await startChild();
      const path = `/intent/${intentId}/events`;
      // 9,000 requests. Without the defense each held 9 to 24 KiB.
      for (let round = 1; round <= 150; round += 1) {
        const stream = new RawStream(origin, path + query);
        for (let n = 1; n < requestsPerConnection; n += 1) stream.request(path + query);
        await eventually(
          'all requests are received',
          async () => (await report()).seen === round * requestsPerConnection,
        );
        stream.socket.destroy();
      }
      await eventually('no response is held', async () => (await report()).held === 0);
    },
    300_000,
  );
});
