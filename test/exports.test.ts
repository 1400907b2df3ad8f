import * as client from '../src/client.js';
import * as index from '../src/index.js';
import * as testing from '../src/testing.js';

// A name that is added or goes away is a decision, not an accident: it belongs into CHANGELOG.md.
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
  "refuse",
  "requireLogin",
  "requirePayment",
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

it('what two entries export is the same thing, so that instanceof holds across them', () => {
  for (const [name, value] of Object.entries(client)) expect(index).toHaveProperty(name, value);
});
