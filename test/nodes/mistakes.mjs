// Runs in a project with the packed package, on any Node: what a developer sees of an error that escapes from the package. Each
// script in mistakes/ makes one mistake, in the line that is marked. Exits with 1 if an output is hard to read.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The message of each mistake: what is wrong, and what to do. */
const messages = {
  'forgotten-await.mjs': /^IntentError: Invalid amount \("a lot"\) in the terms\. Expected a decimal/m,
  'guard-not-called.mjs': /^ConfigError: .*\n {2}- requireLogin\.loginURL: Unknown option "loginURL"\.\n.*"loginUrl"/m,
  'invalid-id.mjs':
    /^IntentError: The intent id is not the Base58 form of 32 bytes\. Copy the whole intent id again\./m,
  'unset-secret.cjs':
    /^IntentError: The secret is not a string\. Use a secret that `npx express-intents keygen` prints\./m,
  'invalid-secret.mjs':
    /^IntentError: The client secret is not the Base58 form of 20 bytes\. Copy the whole client secret again\./m,
  'no-database.mjs': /^IntentError: The ledger cannot be opened: .* ECONNREFUSED .* Start the database/m,
  'nothing-configured.cjs': /^ConfigError: .*\n {2}- INTENT_SEQUENCER_URL: It is not set\./m,
  'unknown-option.mjs':
    /^ConfigError: .*\n {2}- domian: Unknown option "domian"\.\n {4}Did you mean "login\.domain"\?/m,
  'unknown-table.mjs': /relation "ordres" does not exist/m,
  'unreachable-sequencer.mjs': /^SequencerError: .* http:\/\/127\.0\.0\.1:1 cannot be reached\. .*Check its URL/m,
};

const folder = new URL('./mistakes/', import.meta.url);
const names = readdirSync(folder).filter((name) => /\.[cm]js$/.test(name));
assert.deepEqual(names.sort(), Object.keys(messages).sort());

/** Before the message Node prints the place of the error: a file, a line of code, a mark and an empty line. */
const maxLinesBeforeMessage = 4;

// No variables, except the one without which Node does not start on Windows.
const env = process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot };

const widest = { lines: 0, characters: 0 };
for (const [name, message] of Object.entries(messages)) {
  const { status, stderr } = spawnSync(process.execPath, [name], { cwd: folder, encoding: 'utf8', env });
  const about = `${name} printed:\n${stderr}`;
  assert.equal(status, 1, about);
  // Warnings about the configuration are log lines, before the error.
  const lines = stderr.split('\n').filter((line) => !line.startsWith('express-intents: '));
  const printed = lines.join('\n');
  const { index } = message.exec(printed) ?? {};
  assert.ok(index !== undefined, `no message: ${about}`);
  assert.ok(printed.slice(0, index).split('\n').length - 1 <= maxLinesBeforeMessage, `the message is late: ${about}`);
  const code = readFileSync(new URL(name, folder), 'utf8').split('\n');
  const mistake = 1 + code.findIndex((line) => line.endsWith('// the mistake'));
  assert.ok(printed.includes(`${name}:${mistake}:`), `no frame of line ${mistake}: ${about}`);
  widest.lines = Math.max(widest.lines, lines.length);
  widest.characters = Math.max(widest.characters, ...stderr.split('\n').map((line) => line.length));
}
assert.ok(widest.lines <= 40, `${widest.lines} lines`);
assert.ok(widest.characters <= 400, `a line of ${widest.characters} characters`);
console.log(
  `Node ${process.versions.node}: ${names.length} mistakes print at most ${widest.lines} lines of ${widest.characters} characters.`,
);
