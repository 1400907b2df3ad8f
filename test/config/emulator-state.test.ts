import { parseConfig } from '../../src/config/config.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';

const env = {
  INTENT_SEQUENCER_URL: 'embedded',
  INTENT_VERIFIER_SECRET: generateKeyPair().secret,
  INTENT_DOMAIN: 'shop.example',
};
const stateWith = (more: Readonly<Record<string, string>>, options = {}): string | undefined =>
  parseConfig(options, { ...env, ...more }).sequencer.emulatorState;

test.each([
  ['memory without a ledger', {}, undefined],
  ['a file in the folder of the ledger', { INTENT_DATABASE_URL: './ledger' }, 'ledger/sequencer.jsonl'],
  ['memory with Postgres', { INTENT_DATABASE_URL: 'postgres://localhost/shop' }, undefined],
  ['memory if that is configured', { INTENT_DATABASE_URL: './ledger', INTENT_EMULATOR_STATE: 'memory' }, undefined],
  ['the configured file', { INTENT_DATABASE_URL: './ledger', INTENT_EMULATOR_STATE: './other' }, './other'],
  [
    'the default file if the variable is empty',
    { INTENT_DATABASE_URL: './l', INTENT_EMULATOR_STATE: '' },
    'l/sequencer.jsonl',
  ],
])('the state of the embedded sequencer is stored in %s', (_name, more, expected) => {
  expect(stateWith(more as Readonly<Record<string, string>>)).toBe(expected);
});

test('the option emulator.stateFile overrides INTENT_EMULATOR_STATE', () => {
  expect(stateWith({ INTENT_EMULATOR_STATE: './one' }, { emulator: { stateFile: './other' } })).toBe('./other');
});
