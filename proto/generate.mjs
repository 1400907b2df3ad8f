// Writes the codecs in src/wire/generated/ from the .proto files beside this script.
// Run it as `npm run generate`; `node proto/generate.mjs <folder>` writes elsewhere, which is how the tests notice stale codecs.
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const protoFolder = fileURLToPath(new URL('.', import.meta.url));
const target = path.resolve(process.argv[2] ?? path.join(protoFolder, '../src/wire/generated'));
const pbjs = promisify(createRequire(import.meta.url)('protobufjs-cli').pbjs.main);

async function generate(name, extraFlags) {
  const flags = [
    ...['--target', 'static-module', '--wrap', 'esm', '--es6', '--root', `express-intents/${name}`],
    ...['--no-service', '--no-delimited', '--no-typeurl', '--no-verify', '--no-convert'],
    ...['--path', protoFolder, '--out', path.join(target, `${name}.js`)],
    ...extraFlags,
  ];
  const source = path.join(protoFolder, `${name}.proto`);
  // The types are made from the comments, and the comments are half of the code: once for the types, once for the code.
  await pbjs([...flags, '--dts', source]);
  await pbjs([...flags, '--no-comments', source]);
}

await mkdir(target, { recursive: true });
await generate('intents', []);
// `sparse` keeps only what the file's own messages use: the emulator's codec repeats little of the interface's.
await generate('emulator', ['--sparse']);
