import type { World } from './doctor/world.js';
import type { Terminal } from './terminal.js';

/** What every command works with. */
export interface Cli {
  readonly terminal: Terminal;
  readonly world: World;
  /** Makes an action of what gives the exit code: 0 well, 1 failed. What it throws is told without a stack. */
  action<Args extends readonly unknown[]>(
    work: (...args: Args) => number | Promise<number>,
  ): (...args: Args) => Promise<void>;
}
