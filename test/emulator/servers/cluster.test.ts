import { freePort } from '../../support/network/nginx.js';
import { compile, start } from '../../support/runner/child-program.js';

test.each(['port', 'grpcPort'])(
  'a sequencer in a second worker of a cluster does not start on the %s of the first',
  async (option) => {
    const port = await freePort();
    const program = await compile(new URL('./start-in-cluster-program.ts', import.meta.url));
    const primary = start(program, [option, String(port)]);
    expect(await primary.next()).toEqual({ url: expect.stringMatching(/^http:/) });
    expect(await primary.next()).toEqual({
      problem: expect.stringContaining(`cannot listen on port ${port} (it is in use)`),
    });
    await primary.kill();
  },
);
