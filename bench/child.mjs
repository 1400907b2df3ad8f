import { fork } from 'node:child_process';

/** A process that answers what it is asked, one message each. */
export function startChild(file, execArgv = []) {
  const child = fork(new URL(file, import.meta.url), { execArgv });
  const waiting = new Map();
  let asked = 0;
  child.on('message', ({ n, answer, error }) => {
    const { resolve, reject } = waiting.get(n);
    waiting.delete(n);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} has ended with ${code}.`));
  });
  return {
    ask: (ask, options) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        child.send({ n: asked, ask, options });
      }),
    stop: () => child.disconnect(),
    kill: () => child.kill('SIGKILL'),
  };
}
