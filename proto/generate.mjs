// Generates the codecs in src/wire/generated/ from the .proto files in this folder. Run it as `npm run generate`. The tests run
// `node proto/generate.mjs <folder>` to detect outdated codecs.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const protoFolder = fileURLToPath(new URL('.', import.meta.url));
const target = path.resolve(process.argv[2] ?? path.join(protoFolder, '../src/wire/generated'));
const pbjs = promisify(createRequire(import.meta.url)('protobufjs-cli').pbjs.main);

/** pbjs repeats these statements in each message. As functions they save 15 KB in the package. */
const sharedFunctions = [
  [
    'setFields.call(this, properties)',
    `if (properties)
       for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
         if (properties[keys[i]] != null && keys[i] !== "__proto__")
           this[keys[i]] = properties[keys[i]];`,
  ],
  [
    'writeUnknowns(message, writer)',
    `if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
       for (let i = 0; i < message.$unknowns.length; ++i)
         writer.raw(message.$unknowns[i]);`,
  ],
  [
    'readUnknown(message, reader, start)',
    `if (!reader.discardUnknown) {
       $util.makeProp(message, "$unknowns", false);
       (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
     }`,
  ],
  [
    'endMessage(reader, length, end, _end)',
    `if (length !== $undefined) {
       if (reader.pos !== end)
         throw $RangeError("index out of range");
       reader.len = length;
     }
     if (_end !== $undefined)
       throw $Error("missing end group");`,
  ],
];

/** @throws {Error} if pbjs no longer generates these statements */
function shareFunctions(code) {
  const anySpace = (text) => text.replaceAll(/[^\w\s]/g, '\\$&').replaceAll(/\s+/g, '\\s+');
  const declarations = [];
  let shared = code;
  for (const [call, statements] of sharedFunctions) {
    const parts = shared.split(new RegExp(anySpace(statements)));
    if (parts.length < 3) throw new Error(`pbjs generates other statements than those of ${call}.`);
    shared = parts.join(`${call};`);
    declarations.push(`function ${call.replace('.call(this, ', '(')} {\n${statements}\n}\n`);
  }
  return shared.replace('export const', () => `${declarations.join('\n')}\nexport const`);
}

async function generate(name, extraFlags) {
  const file = path.join(target, `${name}.js`);
  const flags = [
    ...['--target', 'static-module', '--wrap', 'esm', '--es6', '--root', `express-intents/${name}`],
    ...['--no-service', '--no-delimited', '--no-typeurl', '--no-verify', '--no-convert'],
    ...['--path', protoFolder, '--out', file],
    ...extraFlags,
  ];
  const source = path.join(protoFolder, `${name}.proto`);
  // pbjs generates types from comments, which would double the size of the code. So it runs again for code without them.
  await pbjs([...flags, '--dts', source]);
  await pbjs([...flags, '--no-comments', source]);
  await writeFile(file, shareFunctions(await readFile(file, 'utf8')));
}

await mkdir(target, { recursive: true });
await generate('intents', []);
// `sparse` generates only the messages that emulator.proto uses.
await generate('emulator', ['--sparse']);
