import { post } from '../support/post.js';
import { startFleet } from './fleet.js';

test('a rate limit is counted once for all processes, with a store that they share', async () => {
  const fleet = await startFleet(3, { router: { limit: 10 } });
  const statuses: number[] = [];
  for (let index = 0; index < 15; index += 1) {
    const { status } = await post(fleet.origin).set('Origin', fleet.origin).send({ mode: 'login' });
    statuses.push(status);
  }
  expect(statuses.filter((status) => status === 201)).toHaveLength(10);
  expect(statuses.slice(10)).toEqual([429, 429, 429, 429, 429]);
}, 120_000);
