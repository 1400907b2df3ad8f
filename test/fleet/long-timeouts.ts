// Raises the timeouts of `AbortSignal.timeout`: on a busy machine a process needs longer than the three seconds in which the
// sequencer must read a key file, and the ten of a wallet's call.

const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => timeout(Math.max(ms, 60_000));
