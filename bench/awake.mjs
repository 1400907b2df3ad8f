// Keeps a core awake. What it costs a process to sleep until the next request depends on whether the core is idle meanwhile, and
// on a busy machine it is not.
import { constants, setPriority } from 'node:os';
import { handleCalls } from './process.mjs';

const sliceMs = 2;

setPriority(constants.priority.PRIORITY_LOW);
handleCalls({});

/** In slices, because the event loop handles the calls of the parent between them. */
function spin() {
  const endMs = performance.now() + sliceMs;
  while (performance.now() < endMs);
  setImmediate(spin);
}
spin();
