import request, { type Test } from 'supertest';

/** A POST that says where it comes from, as the browser of somebody on a page of the site does. */
export function post(origin: string, path = '/intent'): Test {
  return request(origin).post(path).set('Sec-Fetch-Site', 'same-origin');
}
