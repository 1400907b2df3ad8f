import { createIntentClient } from '../../../src/client.js';

// Calls services in a process of its own: whom Node trusts is settled when a process starts. Takes base URLs as arguments,
// and prints what came of each as one line of JSON.

for (const url of process.argv.slice(2)) {
  const client = createIntentClient({ url, timeoutMs: 5_000 });
  const called = await client.paymentIntents.getStatus('1'.repeat(32)).then(
    () => 'answered',
    (error: { code?: unknown }) => error.code,
  );
  console.log(JSON.stringify({ url, called }));
  await client.close();
}
