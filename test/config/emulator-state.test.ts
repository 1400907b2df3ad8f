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
  ['nothing without a ledger', {}, undefined],
  ['a file in the folder of the ledger', { INTENT_DATABASE_URL: './ledger' }, 'ledger/sequencer.jsonl'],
  ['nothing with Postgres', { INTENT_DATABASE_URL: 'postgres://localhost/shop' }, undefined],
  ['nothing where that is asked for', { INTENT_DATABASE_URL: './ledger', INTENT_EMULATOR_STATE: 'memory' }, undefined],
  ['the file that is named', { INTENT_DATABASE_URL: './ledger', INTENT_EMULATOR_STATE: './other' }, './other'],
  [
    'the default where the variable is empty',
    { INTENT_DATABASE_URL: './l', INTENT_EMULATOR_STATE: '' },
    'l/sequencer.jsonl',
  ],
])('the state of the embedded sequencer is kept by %s', (_name, more, expected) => {
  expect(stateWith(more as Readonly<Record<string, string>>)).toBe(expected);
});

test('the option wins', () => {
  expect(stateWith({ INTENT_EMULATOR_STATE: './one' }, { emulator: { stateFile: './other' } })).toBe('./other');
});
