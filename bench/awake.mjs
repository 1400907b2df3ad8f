// Keeps a core awake. To sleep and wake takes less CPU on an idle core. Under load no core is idle.
import { lowerPriority } from './machine.mjs';
import { handleCalls } from './process.mjs';

const sliceMs = 2;

lowerPriority();
handleCalls({});

/** In slices, because the event loop handles the calls of the parent between them. */
function spin() {
  const endMs = performance.now() + sliceMs;
  while (performance.now() < endMs);
  setImmediate(spin);
}
spin();
