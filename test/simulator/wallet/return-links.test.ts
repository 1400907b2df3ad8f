import { openCode } from '../../../src/simulator/wallet/wallet-request.js';
import { closeAll, created, payment, start } from '../fixture.js';

afterEach(closeAll);

interface PageScript {
  parseFragment(fragment: string): { code: string; success?: string; cancel?: string };
}

const { parseFragment } = (await import(
  new URL('../../../src/simulator/page/return-links.js', import.meta.url).href
)) as PageScript;

describe('the fragment of a wallet link', () => {
  test('has a code and return addresses', () => {
    const success = 'https://shop.example/ok?a=1&b=%20#c';
    const cancel = 'http://localhost:3000/no';
    const fragment = `CODE&success=${encodeURIComponent(success)}&cancel=${encodeURIComponent(cancel)}`;
    expect(parseFragment(fragment)).toEqual({ code: 'CODE', success, cancel });
    expect(parseFragment('CODE')).toEqual({ code: 'CODE', success: undefined, cancel: undefined });
    expect(parseFragment('')).toMatchObject({ code: '' });
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', '', 'https://'])('refuses the address %j', (url) => {
    expect(parseFragment(`CODE&success=${encodeURIComponent(url)}`).success).toBeUndefined();
  });
});

test('openCode reads a code alone, in a link, and with return addresses', async () => {
  const { url } = await start();
  const { id, clientSecret } = await created(url, payment());
  const back = `&success=${encodeURIComponent('https://shop.example/#x')}`;
  for (const code of [
    clientSecret,
    ` ${clientSecret} `,
    `${url}/wallet#${clientSecret}`,
    `${url}/wallet#${clientSecret}${back}`,
  ]) {
    expect(openCode(code).id).toBe(id);
  }
});
