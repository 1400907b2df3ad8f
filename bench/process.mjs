// Processes of a benchmark: a child handles the calls of its parent, one message for each.
import { fork } from 'node:child_process';

/** Starts a module of this folder, which must call {@link handleCalls}. */
export function startChild(file, execArgv = [], options = {}) {
  const child = fork(new URL(file, import.meta.url), { execArgv, ...options });
  const pending = new Map();
  let lastId = 0;
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = pending.get(id);
    pending.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(error));
  });
  child.on('exit', (code) => {
    for (const { reject } of pending.values()) reject(new Error(`${file} exited with ${code}.`));
  });
  return {
    call: (name, options) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, { resolve, reject });
        child.send({ id: lastId, name, options });
      }),
    isRunning: () => child.connected,
    stop: () => child.connected && child.disconnect(),
    kill: () => child.kill('SIGKILL'),
  };
}

/** CPU time of this process. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Handles the calls of the parent by name, and `cpuMs`. The process exits when the parent disconnects. */
export function handleCalls(given) {
  const handlers = { cpuMs, ...given };
  process.on('message', async ({ id, name, options }) => {
    try {
      process.send({ id, result: await handlers[name](options) });
    } catch (error) {
      process.send({ id, error: error.stack });
    }
  });
  process.on('disconnect', () => process.exit());
}
