import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../build/intents/payload.js';

/** Logs in at a server of the benchmark, whose sequencer lets everybody in. @returns the cookies that say so */
export async function logIn(port) {
  const post = async (path, body, cookie = '') => {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
    return { answer, cookies: answer.headers.getSetCookie().map((text) => text.split(';')[0]) };
  };
  const begun = await post('/intent', { mode: 'login' });
  const { client_secret: secret } = await begun.answer.json();
  const id = intentIdOf(rendezvousKeyPair(parseClientSecret(secret)));
  const done = await post('/session', { id }, begun.cookies.join('; '));
  return [...begun.cookies, ...done.cookies].join('; ');
}
