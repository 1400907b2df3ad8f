// Generates the codecs in src/wire/generated/ from the .proto files in this folder. Run it as `npm run generate`. The tests run
// `node proto/generate.mjs <folder>` to detect outdated codecs.
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
    ...['--no-service', '--no-delimited', '--no-typeurl', '--no-verify', '--no-convert', '--no-create'],
    ...['--path', protoFolder, '--out', path.join(target, `${name}.js`)],
    ...extraFlags,
  ];
  const source = path.join(protoFolder, `${name}.proto`);
  // pbjs generates types from comments, which would double the size of the code. So it runs again for code without them.
  await pbjs([...flags, '--dts', source]);
  await pbjs([...flags, '--no-comments', source]);
}

await mkdir(target, { recursive: true });
await generate('intents', []);
// `sparse` generates only the messages that simulator.proto uses.
await generate('simulator', ['--sparse']);
