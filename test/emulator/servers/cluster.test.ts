import { freePort } from '../../support/network/nginx.js';
import { compile, start } from '../../support/runner/child-program.js';

test.each([
  ['port', ''],
  ['grpcPort', ''],
  ['router', '. If another worker of the cluster has it, run `npx express-intents sequencer`'],
])('a sequencer in a second worker of a cluster does not start on the port of the first: %s', async (option, fix) => {
  const program = await compile(new URL('./start-in-cluster-program.ts', import.meta.url));
  const port = await freePort();
  const primary = start(program, [option, String(port)]);
  expect(await primary.next()).toEqual({ url: expect.stringMatching(/^http:/) });
  expect(await primary.next()).toEqual({
    problem: expect.stringContaining(`cannot listen on port ${port} (it is in use)${fix}`),
  });
  await primary.kill();
});
