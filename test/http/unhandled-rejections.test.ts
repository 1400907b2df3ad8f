import { unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { post } from '../support/sites/post.js';
import { startSite } from '../support/sites/site.js';

// An unhandled rejection ends the process.

const fail = (): never => {
  throw new Error('disk full');
};

const unhandled: unknown[] = [];
const record = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', record));
afterAll(() => void process.off('unhandledRejection', record));

test.each([
  ['throws', { warn: fail, error: fail }],
  ['rejects', { warn: async () => fail(), error: async () => fail() }],
])('a logger that %s does not change the response, and does not end the process', async (_name, logger) => {
  const { origin } = await startSite({ sequencerUrl: await unreachableUrl(), logger, mountPath: '/shop' });
  const response = await post(origin, '/shop/intent').send({ mode: 'login' }).expect(503);
  expect(response.body.code).toBe('sequencer_unreachable');
  expect(unhandled).toEqual([]);
});

test.each(['setHeader', 'end'] as const)(
  'a middleware whose %s of the response throws closes the connection, and does not end the process',
  async (method) => {
    const { origin } = await startSite({
      sequencerUrl: await unreachableUrl(),
      before: (app) =>
        app.use((_req, res, next) => {
          res[method] = fail;
          next();
        }),
    });
    await expect(post(origin, '/intent').send({ mode: 'login' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(unhandled).toEqual([]);
  },
);
