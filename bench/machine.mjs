// Readings of the machine and of its processes. Those from /proc and /sys are available on Linux only.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, cpus, getPriority, setPriority } from 'node:os';

/** A clock tick of the kernel. */
const tickMs = 10;

/** Parses the `stat` file of a process or a thread, as in proc(5). Times are in milliseconds. */
export function parseStat(text) {
  // The name of the program can contain any character. It ends at the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const at = (number) => Number(fields[number - 3]);
  const ms = (first) => (at(first) + at(first + 1)) * tickMs;
  return { id: Number.parseInt(text, 10), parent: at(4), ownMs: ms(14), exitedChildrenMs: ms(16) };
}

/** CPU time of a process and its children. The kernel adds that of exited children to their parent. */
export function cpuMsOfTree(pid) {
  let sumMs = 0;
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(`/proc/${name}/stat`);
    if (stat?.id === pid) sumMs += stat.ownMs + stat.exitedChildrenMs;
    else if (stat?.parent === pid) sumMs += stat.ownMs;
  }
  return sumMs;
}

/** Undefined if the process or thread has ended. */
function statOf(file) {
  try {
    return parseStat(readFileSync(file, 'latin1'));
  } catch {
    return undefined;
  }
}

/** CPU time of all threads of this process except the main thread; undefined without /proc. */
export function otherThreadsMs() {
  let names;
  try {
    names = readdirSync('/proc/self/task');
  } catch {
    return undefined;
  }
  const others = names.filter((name) => Number(name) !== process.pid);
  return others.reduce((sumMs, name) => sumMs + (statOf(`/proc/self/task/${name}/stat`)?.ownMs ?? 0), 0);
}

const autogroup = '/proc/self/autogroup';

/** Gives this process and its later children precedence over other programs. Only root can. @returns the priority */
export function raisePriority() {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
    if (existsSync(autogroup)) raiseSession();
  } catch {
    // The benchmark also works with normal priority. Other programs then affect it more.
  }
  return getPriority();
}

/** Linux applies the priority of a process only within its session, and shares the cores among sessions (sched(7)). */
function raiseSession() {
  const before = /-?\d+$/.exec(readFileSync(autogroup, 'latin1').trim())?.[0] ?? '0';
  writeFileSync(autogroup, `${constants.priority.PRIORITY_HIGHEST}`);
  process.on('exit', () => writeFileSync(autogroup, before));
}

/** Gives all other programs precedence over this process, which must have its own session. */
export function lowerPriority() {
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    if (existsSync(autogroup)) writeFileSync(autogroup, `${constants.priority.PRIORITY_LOW}`);
  } catch {
    // Without root, Linux refuses a second change within 100 ms. Other programs then get less CPU time.
  }
}

/** The idle time of all cores. */
export function idleMs() {
  return cpus().reduce((sumMs, { times }) => sumMs + times.idle, 0);
}

/** The caches of the first core, such as `L1d 48K`; empty without /sys. */
function cachesOf(folder = '/sys/devices/system/cpu/cpu0/cache') {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith('index'))
      .map((name) => {
        const [level, type, size] = ['level', 'type', 'size'].map((key) =>
          readFileSync(`${folder}/${name}/${key}`, 'latin1').trim(),
        );
        return `L${level}${{ Data: 'd', Instruction: 'i' }[type] ?? ''} ${size}`;
      });
  } catch {
    return [];
  }
}

/** The processor, its caches and the version of Node, in one line. */
export function describeMachine() {
  const [first] = cpus();
  const count = cpus().length;
  return [first.model, `${count} cores`, ...cachesOf(), `Node ${process.versions.node}`].join(', ');
}
