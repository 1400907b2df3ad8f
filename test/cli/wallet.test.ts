import { createIntentClient, createSigner, generateKey } from '../../src/index.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { serve } from '../support/sites/serve.js';
import { destination } from '../support/sites/site.js';
import { runCommand } from './support/run-command.js';

let sequencer: Sequencer;
let client: ReturnType<typeof createIntentClient>;
const verifier = createSigner(generateKey().secret);

beforeAll(async () => {
  sequencer = await startSequencer();
  client = createIntentClient({ url: sequencer.url });
  const keyFile = JSON.stringify({ public_keys: [verifier.publicKey] });
  sequencer.setLocalDomain('shop.example', await serve((_req, res) => res.end(keyFile)));
});
afterAll(async () => {
  await client.close();
  await sequencer.close();
});

const wallet = (input: string, ...args: string[]) => {
  const [name = '', ...rest] = args;
  return runCommand(['wallet', name, '-', '--url', sequencer.url, ...rest], { input });
};
const aPayment = () => client.paymentIntents.create({ destination, amount: '4.50', currency: 'usd' });
const aLogin = () =>
  client.loginIntents.create({ login: { verifier: verifier.publicKey, domain: 'shop.example' }, signers: [verifier] });

describe('show', () => {
  it('tells what a payment asks for, verified, and changes nothing', async () => {
    const { id, clientSecret } = await aPayment();
    for (const input of [clientSecret, `${clientSecret}\n`, `http://wallet.example/#${clientSecret}&x=1\n`]) {
      expect(await wallet(input, 'show')).toEqual({
        code: 0,
        out: [
          'asks for   a payment of 4.50 usd',
          `to         ${destination}`,
          'signed by  its rendezvous key, verified',
          `intent     ${id}`,
          'status     waits for a wallet',
        ].join('\n'),
        error: '',
      });
    }
    expect(await client.paymentIntents.getStatus(id)).toMatchObject({ codeScanned: false, intentSubmitted: false });
  });

  it('tells what a login asks for, and how far it has got', async () => {
    const { id, clientSecret } = await aLogin();
    await sequencer.wallet('Ben').scan(clientSecret);
    expect((await wallet(clientSecret, 'show')).out.split('\n')).toEqual([
      'asks for   a login',
      'login at   shop.example',
      `verifier   ${verifier.publicKey}`,
      'signed by  its rendezvous key and the verifier, both verified',
      `intent     ${id}`,
      'status     scanned, and not yet confirmed',
    ]);
    const { out } = await wallet(clientSecret, 'show', '--json');
    expect(JSON.parse(out)).toEqual({
      id,
      kind: 'login',
      login: { domain: 'shop.example', verifier: verifier.publicKey },
      status: { exists: true, codeScanned: true, intentSubmitted: false },
    });
  });
});

it('pay pays, as who is named, and nobody else can after that', async () => {
  const { id, clientSecret } = await aPayment();
  const paid = await wallet(clientSecret, 'pay', '--name', 'Zoe');
  expect(paid).toEqual({ code: 0, out: `Zoe has paid 4.50 usd.\nintent     ${id}`, error: '' });
  expect(await client.paymentIntents.getStatus(id)).toMatchObject({ intentSubmitted: true });
  const again = await wallet(clientSecret, 'pay', '--name', 'Ada');
  expect(again).toEqual({ code: 1, out: '', error: 'Somebody else has paid this already.' });
});

it('login logs in as the wallet of that name which the sequencer has, and tells the user id', async () => {
  const { id, clientSecret } = await aLogin();
  const userId = sequencer.wallet('Ada').userId('shop.example');
  const said = ['Ada has logged in at shop.example.', `intent     ${id}`, `user       ${userId}`].join('\n');
  expect(await wallet(clientSecret, 'login')).toEqual({ code: 0, out: said, error: '' });
  expect(await client.loginIntents.getUserId({ intent: id, verifier })).toEqual({ userId });
});

it('reject declines, and the intent can be paid all the same', async () => {
  const { id, clientSecret } = await aPayment();
  const said = `Ada has declined to pay 4.50 usd.\nintent     ${id}`;
  expect(await wallet(clientSecret, 'reject')).toEqual({ code: 0, out: said, error: '' });
  expect((await wallet(clientSecret, 'pay')).code).toBe(0);
});

it('takes the code as an argument as well', async () => {
  const { clientSecret } = await aPayment();
  const { code, out } = await runCommand(['wallet', 'pay', clientSecret, '--url', `${sequencer.url}/`, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ kind: 'payment', amount: '4.50', currency: 'usd', destination });
});

describe('what is wrong', () => {
  it.each([
    ['no code', '', 2, 'There is no code.'],
    [
      'no code of ours',
      'abc',
      2,
      'This is no code: Expected the Base58 form of 20 bytes.\nCopy the client_secret again, or the link in the dialog, whole.',
    ],
  ])('%s', async (_name, input, code, error) => {
    expect(await wallet(input, 'pay')).toEqual({ code, out: '', error });
  });

  it('a login is no payment', async () => {
    const { clientSecret } = await aLogin();
    const error = 'This code is for a login, not for a payment.';
    expect(await wallet(clientSecret, 'pay')).toEqual({ code: 1, out: '', error });
  });

  it('a code of another sequencer, and no sequencer at all', async () => {
    const other = await startSequencer();
    const { id, clientSecret } = await aPayment();
    const args = ['wallet', 'show', '-', '--url'];
    const unknown = await runCommand([...args, other.url], { input: clientSecret });
    expect(unknown).toEqual({ code: 1, out: '', error: `There is no intent ${id}.` });
    await other.close();
    const gone = await runCommand([...args, other.url], { input: clientSecret });
    expect(gone).toMatchObject({ code: 1 });
    expect(gone.error).toMatch(`No sequencer answers at ${other.url}.`);
    expect(gone.error).toContain('npx express-intents sequencer');
  });

  it.each([['ftp://127.0.0.1'], ['127.0.0.1:4747']])('--url %s', async (url) => {
    const { code, error } = await runCommand(['wallet', 'pay', '-', '--url', url]);
    expect(code).toBe(2);
    expect(error).toContain('the base URL of a sequencer');
  });
});
