import * as client from '../src/client.js';
import * as index from '../src/index.js';
import * as testing from '../src/testing.js';

const ofClient = 'IntentError SequencerError createIntentClient createSigner generateKeyPair useSodium';

// Record an added or removed name in CHANGELOG.md.
it.each([
  [
    'express-intents',
    index,
    `ConfigError createServer currentUser intentRouter logOut refuse requireLogin requirePayment ${ofClient}`,
  ],
  ['express-intents/client', client, ofClient],
  [
    'express-intents/testing',
    testing,
    'advanceTime createWallet sameOriginHeaders startSimulator temporaryLedger waitForIntent',
  ],
])('%s exports these values', (_name, entry, names) => {
  expect(Object.keys(entry).sort()).toEqual(names.split(' ').sort());
});

it('the entries export the same values, so that instanceof works across them', () => {
  for (const [name, value] of Object.entries(client)) expect(index).toHaveProperty(name, value);
});
