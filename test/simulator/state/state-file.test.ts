import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseClientSecret } from '../../../src/intents/payload.js';
import type { SignedIntent } from '../../../src/intents/signed-intent.js';
import { type Simulator, startSimulator } from '../../../src/simulator/index.js';
import { openCode } from '../../../src/simulator/wallet/wallet-request.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import { compile, start as startProgram } from '../../support/runner/child-program.js';
import { secretsIn } from '../../support/runner/secret-forms.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import {
  call,
  closeAll,
  create,
  created,
  keyPair,
  logInAs,
  login,
  loginTerms,
  opened,
  payment,
  poll,
  sendBody,
  serveKeyFile,
  start,
  statusFlags,
  submitAs,
} from '../fixture.js';

let program: string;

beforeAll(async () => {
  program = await compile(new URL('./state-program.ts', import.meta.url));
});
afterEach(closeAll);

const newFile = (): string => path.join(temporaryFolder(), 'state.jsonl');

/** Restarts a sequencer with the same file. */
async function again(simulator: Simulator, stateFile: string): Promise<Simulator> {
  await simulator.close();
  return start({ stateFile });
}

const linesIn = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

const messagesOf = (url: string, { clientSecret }: SignedIntent): Promise<v1.Message[]> =>
  poll(url, openCode(clientSecret).rendezvous);

describe('after a restart', () => {
  test('every intent has the same state', async () => {
    const stateFile = newFile();
    let simulator = await start({ stateFile });
    const { url } = simulator;
    const scanned = await payment({}, false);
    opened(await call(url, operations.sendMessage, sendBody(scanned)));
    const [waiting, paid, reversed] = [
      await created(url, payment()),
      await created(url, payment()),
      await created(url, payment()),
    ];
    const [declined, loggedIn] = [await created(url, login()), await created(url, login())];
    const both = await created(url, payment({ login: loginTerms }));
    const wallet = simulator.wallet('Ben');
    await wallet.scan(scanned.clientSecret);
    await wallet.decline(declined.clientSecret);
    for (const one of [paid, reversed]) await wallet.pay(one.clientSecret);
    simulator.reverse(reversed.id);
    await wallet.login(loggedIn.clientSecret);
    await wallet.pay(both.clientSecret);
    const flagsOf = () =>
      Promise.all(
        [waiting, scanned, declined, paid, reversed, loggedIn, both].map(({ id }) => statusFlags(simulator.url, id)),
      );
    const messages = () => Promise.all([scanned, paid, declined].map((one) => messagesOf(simulator.url, one)));
    const before = [await flagsOf(), await messages()];
    simulator = await again(simulator, stateFile);
    expect([await flagsOf(), await messages()]).toEqual(before);
    expect(await flagsOf()).toEqual([
      ...[
        [true, false, false],
        [true, true, false],
        [true, true, false],
        [true, true, true],
      ],
      ...[
        [true, true, false],
        [true, true, true],
        [true, true, true],
      ],
    ]);
    // An open payment can be paid, and a submitted one by no other wallet. The user of a login is known.
    await simulator.wallet('Ada').pay(waiting.clientSecret);
    await expect(simulator.wallet('Ada').pay(paid.clientSecret)).rejects.toThrow(/Another wallet/);
    await expect(simulator.wallet('Ada').login(loggedIn.clientSecret)).rejects.toThrow(/Another wallet/);
    await simulator.wallet('Ben').login(loggedIn.clientSecret);
    // A retry of the create is accepted.
    opened(await create(simulator.url, paid));
  });
});

describe('a process that is killed', () => {
  test('has lost nothing that it had answered', async () => {
    const stateFile = newFile();
    const keyFile = await serveKeyFile();
    const answered = new Map<string, [SignedIntent, 'created' | 'paid' | 'logged in']>();
    for (let run = 0; run < 3; run += 1) {
      const child = startProgram(program, [stateFile, 'example.com', keyFile]);
      const { url } = (await child.next()) as { url: string };
      for (const [, [intent, mark]] of answered) {
        expect(await statusFlags(url, intent.id)).toEqual([true, false, mark !== 'created']);
      }
      const visit = async (): Promise<void> => {
        for (let n = 0; ; n += 1) {
          const intent = await (n % 3 === 0 ? login() : payment());
          opened(await create(url, intent));
          answered.set(intent.id, [intent, 'created']);
          if (n % 3 === 0) opened(await logInAs(url, intent.id, keyPair(3)));
          else if (n % 3 === 1) opened(await submitAs(url, intent.id, keyPair(2)));
          else continue;
          answered.set(intent.id, [intent, n % 3 === 0 ? 'logged in' : 'paid']);
        }
      };
      const before = answered.size;
      const visits = Array.from({ length: 4 }, () => visit().catch(() => undefined));
      await eventually(() => answered.size >= before + 30 + run * 7);
      await child.kill();
      await Promise.all(visits);
      // A created intent may have been submitted without a response, so its state is not certain.
      for (const [id, [, mark]] of answered) if (mark === 'created') answered.delete(id);
    }
    expect(answered.size).toBeGreaterThan(40);
    const { url } = await start({ stateFile });
    const marks = [...answered.values()].map(([{ id }]) => statusFlags(url, id));
    expect(new Set((await Promise.all(marks)).map(String))).toEqual(new Set(['true,false,true']));
  });

  test('an incomplete last line is ignored, and the next start repairs the file', async () => {
    const stateFile = newFile();
    const first = await start({ stateFile });
    const { id } = await created(first.url, payment());
    await first.close();
    const [, whole = ''] = linesIn(stateFile);
    for (const torn of ['{', whole.slice(0, -1), whole, 'x'.repeat(100)]) {
      appendFileSync(stateFile, torn);
      const { url, close } = await start({ stateFile });
      expect(await statusFlags(url, id)).toEqual([true, false, false]);
      await close();
      expect(linesIn(stateFile)).toHaveLength(2);
    }
  });
});

describe('the file', () => {
  test('is compacted at the start', async () => {
    const stateFile = newFile();
    const first = await start({ stateFile });
    const { id, clientSecret } = await created(first.url, payment());
    for (let n = 0; n < 20; n += 1) await first.wallet().scan(clientSecret);
    expect(linesIn(stateFile).length).toBeGreaterThan(20);
    const before = statSync(stateFile).size;
    const { url } = await again(first, stateFile);
    expect(linesIn(stateFile)).toHaveLength(2);
    expect(statSync(stateFile).size).toBeLessThan(before);
    expect(await statusFlags(url, id)).toEqual([true, true, false]);
    expect(readdirSync(path.dirname(stateFile))).toEqual(['state.jsonl']);
  });

  test('is readable by its owner only, holds no secret, and is created with its folder', async () => {
    const stateFile = path.join(temporaryFolder(), 'a', 'b', 'state.jsonl');
    const { url, wallet } = await start({ stateFile });
    const intents = [await created(url, payment({ login: loginTerms })), await created(url, login())];
    for (const { clientSecret } of intents) await wallet().confirm(clientSecret);
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
    const text = readFileSync(stateFile, 'utf8');
    const decoded = [...text.matchAll(/"([A-Za-z0-9+/=]{24,})"/g)].map(([, base64]) =>
      Buffer.from(String(base64), 'base64'),
    );
    const secrets = [Buffer.alloc(32, 7), ...intents.map((one) => Buffer.from(parseClientSecret(one.clientSecret)))];
    expect(decoded.length).toBeGreaterThan(4);
    for (const bytes of decoded) expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
    expect(secretsIn(text)).toEqual([]);
    for (const { clientSecret } of intents) expect(text).not.toContain(clientSecret);
  });

  test('has one sequencer at a time, across processes', async () => {
    const stateFile = newFile();
    const { url, close } = await start({ stateFile });
    const problem = new RegExp(`^The state file ${stateFile} is in use by the simulator at ${url}\\. Stop that one`);
    await expect(startSimulator({ stateFile })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(problem),
    });
    expect(await startProgram(program, [stateFile]).next()).toEqual({ problem: expect.stringMatching(problem) });
    // The error does not recommend another port: the same sequencer was started twice.
    const { port } = new URL(url);
    await expect(startSimulator({ stateFile, port: Number(port) })).rejects.toThrow(problem);
    opened(await create(url, await payment()));
    await close();
    await (await startSimulator({ stateFile })).close();
  });

  test.each([
    ['a file of another program', () => '{"name":"my-shop"}\n', /is not a file of .*\. To keep it, set another file/],
    ['a later version', (text: string) => text.replace('"version":1', '"version":2'), /is not a file of the simulator/],
    ['an intent with another amount', (text: string) => withRequest(text), /is damaged: the intent .* cannot be read/],
    [
      'an intent of half its members',
      (text: string) => text.replace('"declined":false,', ''),
      /is damaged: the intent .* cannot be read/,
    ],
  ])('with %s is refused and not changed', async (_name, corrupt, problem) => {
    const stateFile = newFile();
    const first = await start({ stateFile });
    await created(first.url, payment());
    await first.close();
    const damaged = corrupt(readFileSync(stateFile, 'utf8'));
    writeFileSync(stateFile, damaged);
    await expect(startSimulator({ stateFile })).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(problem),
    });
    expect(readFileSync(stateFile, 'utf8')).toBe(damaged);
  });
});

/** Changes the amount in the first intent, which is then not the signed one. */
function withRequest(text: string): string {
  return text.replace(/"request":"([^"]+)"/, (_all, request: string) => {
    const message = decode(v1.Message, Buffer.from(request, 'base64'));
    if (message.requestToReceiveBill?.partial) message.requestToReceiveBill.partial.nativeAmount = 99;
    return `"request":"${Buffer.from(v1.Message.encode(message).finish()).toString('base64')}"`;
  });
}
