import { createIntentClient } from 'express-intents/client';

const client = createIntentClient({ url: 'http://127.0.0.1:1' });

setImmediate(() => {
  client.paymentIntents.getStatus('not an id'); // the mistake
});
