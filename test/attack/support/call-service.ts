import { createIntentClient } from '../../../src/client.js';

// Calls services in its own process, because Node reads trusted certificates at startup. Takes base URLs as arguments and
// prints each outcome as a line of JSON.

for (const url of process.argv.slice(2)) {
  const client = createIntentClient({ url, timeoutMs: 60_000 });
  const outcome = await client.paymentIntents.getStatus('1'.repeat(32)).then(
    () => 'answered',
    (error: { code?: unknown }) => error.code,
  );
  console.log(JSON.stringify({ url, outcome }));
  await client.close();
}
