import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The build bundles modules into few files. Files that a module reads must still be found.

const root = fileURLToPath(new URL('../..', import.meta.url));

const program = `
import { createServer } from 'node:http';
import express from 'express';
import { intentRouter } from './dist/index.js';
const app = express();
app.use(intentRouter({ sequencer: { url: 'simulator' }, simulator: { port: 0 }, ledger: false }));
const server = createServer(app).listen(0, '127.0.0.1', async () => {
  const origin = 'http://127.0.0.1:' + server.address().port;
  for (const path of ['/intent/v1/openapi.json', '/intent/v1/elements.js', '/.well-known/service-payments.json']) {
    const { status, headers } = await fetch(origin + path);
    console.log(path, status, headers.get('content-type'));
  }
  process.exit();
});
`;

test('the built package serves its OpenAPI document, its button and its key file', async () => {
  const args = ['--input-type=module', '--eval', program];
  const env = { PATH: process.env.PATH, INTENT_DOMAIN: 'shop.example' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  expect(stdout.split('\n').filter((line) => line.startsWith('/'))).toEqual([
    '/intent/v1/openapi.json 200 application/json; charset=utf-8',
    '/intent/v1/elements.js 200 text/javascript; charset=utf-8',
    '/.well-known/service-payments.json 200 application/json; charset=utf-8',
  ]);
});

const importProgram = `
import { createRequire } from 'node:module';
import 'express';
await import('./dist/index.js');
console.log(JSON.stringify([...process.moduleLoadList, ...Object.keys(createRequire(import.meta.url).cache)]));
`;

test('the import of the package loads only what every site needs', async () => {
  const args = ['--input-type=module', '--eval', importProgram];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const loaded: string[] = JSON.parse(stdout);
  const onDemand = /^NativeModule (?:tls|https)$|node_modules\/(?:ipaddr\.js\/lib|tldts|tweetnacl|pg)\//;
  const byExpress = /proxy-addr\//;
  expect(loaded.filter((name) => onDemand.test(name) && !byExpress.test(name))).toEqual([]);
  expect(loaded.some((name) => name.includes('node_modules/protobufjs/'))).toBe(true);
});

const sodiumProgram = `
import sodium from 'sodium-native';
import { useSodium } from './dist/client.js';
import { createSigner, generateKeyPair } from './dist/index.js';
let calls = 0;
useSodium({
  crypto_sign_seed_keypair: sodium.crypto_sign_seed_keypair,
  crypto_sign_detached: (...parts) => void (calls += 1, sodium.crypto_sign_detached(...parts)),
});
const callsBefore = calls;
createSigner(generateKeyPair().secret).sign(Buffer.from('text'));
console.log(calls - callsBefore);
`;

test('useSodium of the client entry applies to the signers of the main entry', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', sodiumProgram], {
    cwd: root,
  });
  expect(stdout).toBe('1\n');
});
