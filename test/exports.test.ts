import * as client from '../src/client.js';
import * as index from '../src/index.js';
import * as testing from '../src/testing.js';

// Record an added or removed name in CHANGELOG.md.
it('express-intents exports these values', () => {
  expect(Object.keys(index).sort()).toMatchInlineSnapshot(`
[
  "ConfigError",
  "IntentError",
  "SequencerError",
  "createIntentClient",
  "createServer",
  "createSigner",
  "currentUser",
  "generateKeyPair",
  "intentRouter",
  "logOut",
  "refuse",
  "requireLogin",
  "requirePayment",
  "useSodium",
]
`);
});

it('express-intents/client exports these values', () => {
  expect(Object.keys(client).sort()).toMatchInlineSnapshot(`
[
  "IntentError",
  "SequencerError",
  "createIntentClient",
  "createSigner",
  "generateKeyPair",
  "useSodium",
]
`);
});

it('express-intents/testing exports these values', () => {
  expect(Object.keys(testing).sort()).toMatchInlineSnapshot(`
[
  "advanceTime",
  "createWallet",
  "sameOriginHeaders",
  "startSequencer",
  "temporaryLedger",
  "waitForIntent",
]
`);
});

it('the entries export the same values, so that instanceof works across them', () => {
  for (const [name, value] of Object.entries(client)) expect(index).toHaveProperty(name, value);
});
