import { once } from 'node:events';
import { RunningRequests } from '../../src/http/running-requests.js';
import { post } from '../support/post.js';
import { startSiteWithSequencer } from '../support/site.js';

/** A hook that waits until it is told to go on. */
function slowHook() {
  const gate = new EventTarget();
  const isAsked = once(gate, 'asked');
  return {
    isAsked,
    goOn: () => gate.dispatchEvent(new Event('go')),
    payment: async () => {
      const goes = once(gate, 'go');
      gate.dispatchEvent(new Event('asked'));
      await goes;
      return { amount: '4.50', currency: 'usd' };
    },
  };
}

test('whoever has come before the router is closed gets the answer', async () => {
  const hook = slowHook();
  const { origin, router } = await startSiteWithSequencer({ payment: hook.payment });
  const answer = post(origin)
    .send({ mode: 'payment' })
    .then((response) => response);
  await hook.isAsked;
  const closed = router.close();
  expect((await router.health()).status).toBe('down');
  hook.goOn();
  expect((await answer).status).toBe(201);
  await closed;
});

describe('requests that run', () => {
  test('are waited for, all of them', async () => {
    const running = new RunningRequests();
    running.begin();
    running.begin();
    let isIdle = false;
    const idle = running.idle(10_000).then(() => {
      isIdle = true;
    });
    running.end();
    await Promise.resolve();
    expect(isIdle).toBe(false);
    running.end();
    await idle;
  });

  test('are not waited for where there are none, and not for ever', async () => {
    const running = new RunningRequests();
    await running.idle(10_000);
    running.begin();
    await running.idle(1);
  });
});
