import request, { type Test } from 'supertest';

/** A POST with the origin headers of a browser on a page of the site. */
export function post(origin: string, path = '/intent'): Test {
  return request(origin).post(path).set('Sec-Fetch-Site', 'same-origin');
}
