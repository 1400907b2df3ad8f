import { jest } from '@jest/globals';
import request from 'supertest';
import { faultSequencer } from '../../support/sequencers/fault-sequencer.js';
import { post } from '../../support/sites/post.js';
import { startSite } from '../../support/sites/site.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';

test.each<[number, string | undefined, string | undefined]>([
  [503, '30', '30'],
  [503, '999999999', '3600'],
  [503, 'Fri, 31 Dec 1999 23:59:59 GMT', '1'],
  [503, undefined, undefined],
  [503, '<script>alert(1)</script>', undefined],
])(
  'status %d of the sequencer with Retry-After %p is answered with Retry-After %p',
  async (status, header, retryAfter) => {
    const sequencer = await faultSequencer((_call, res) => {
      res.writeHead(status, header === undefined ? {} : { 'retry-after': header }).end();
    });
    const { origin } = await startSite({ sequencer: { url: sequencer.url } });
    const answer = await request(origin).get(`/status/${id}`).expect(502);
    expect(answer.headers['retry-after']).toBe(retryAfter);
  },
);

test('after five failures the circuit is open: GET /status/:id answers 503 with Retry-After, without a call', async () => {
  // The circuit stays open for half a second. `Retry-After` is at least one.
  jest.spyOn(performance, 'now').mockReturnValue(3_192.2);
  const sequencer = await faultSequencer((_call, res) => res.writeHead(500).end());
  const { origin, log } = await startSite({ sequencer: { url: sequencer.url } });
  for (let n = 0; n < 5; n += 1) await request(origin).get(`/status/${id}`).expect(502);
  const answer = await request(origin).get(`/status/${id}`).expect(503);
  expect(answer.body).toMatchObject({ code: 'sequencer_unavailable', status: 503 });
  expect(answer.headers['retry-after']).toBe('1');
  expect(sequencer.calls).toHaveLength(5);
  expect(log.text).toContain('sequencer_unavailable');
  // Other operations are still sent.
  await post(origin).send({ mode: 'login' }).expect(502);
  expect(sequencer.calls).toHaveLength(6);
});
