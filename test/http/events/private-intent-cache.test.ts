import { inspect } from 'node:util';
import request from 'supertest';
import { PrivateIntentCache } from '../../../src/http/events/private-intent-cache.js';
import { startEventSite } from '../../support/sites/event-site.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { post } from '../../support/sites/post.js';
import { startSiteWithSimulator } from '../../support/sites/site.js';

const hourMs = 60 * 60 * 1000;

test('PrivateIntentCache keeps a secret for an hour', () => {
  let nowMs = 0;
  const privateIntents = new PrivateIntentCache(() => nowMs);
  privateIntents.setClientSecret('id', 'secret');
  expect(privateIntents.getClientSecret('id')).toBe('secret');
  expect(privateIntents.getClientSecret('other')).toBeUndefined();
  nowMs = hourMs - 1;
  expect(privateIntents.getClientSecret('id')).toBe('secret');
  nowMs = hourMs;
  expect(privateIntents.getClientSecret('id')).toBeUndefined();
  expect(privateIntents.size).toBe(0);
});

test('PrivateIntentCache shows no secret when it is printed, logged or enumerated', async () => {
  const { origin, router, log } = await startSiteWithSimulator();
  const site = await startEventSite();
  for (const each of [origin, site.origin]) {
    const { body } = await post(each).send({ order: 1 }).expect(201);
    const secret: string = body.client_secret;
    await request(each)
      .get(`/intent/${intentIdOf(secret)}/events`)
      .set('Last-Event-ID', 'intent_submitted')
      .expect(204);
    const shown = [router, site.context, site.context.privateIntents].flatMap((value) => [
      inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
      JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : inner)),
    ]);
    expect([...shown, log.text, site.log.text].filter((text) => text?.includes(secret))).toEqual([]);
  }
});

test('PrivateIntentCache has no secret of an intent that the site refused', async () => {
  const site = await startEventSite({
    onCreated: () => {
      throw new Error('no room in the book');
    },
  });
  await post(site.origin).send({ order: 1 }).expect(500);
  expect(site.context.privateIntents.size).toBe(0);
});
