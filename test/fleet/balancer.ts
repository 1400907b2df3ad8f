import { compile, start } from '../support/runner/child-program.js';

/** A balancer in front of the processes. */
export interface Balancer {
  readonly origin: string;
  /** Whether it detects that a process ended. */
  readonly detectsFailures: boolean;
  /** Sets the ports of the processes. */
  use(ports: readonly number[]): Promise<void>;
  /** Restarts the process of a port with `restart` while it receives no requests. */
  without(port: number, restart: () => Promise<void>): Promise<void>;
  /** The number of 5xx responses through it, by status. */
  failures(): Promise<Readonly<Record<number, number>>>;
}

export async function startBalancer(): Promise<Balancer> {
  const child = start(await compile(new URL('./balancer-program.ts', import.meta.url)));
  const { port } = (await child.next()) as { port: number };
  const ask = (order: { ports?: readonly number[] }) => child.ask(order) as ReturnType<Balancer['failures']>;
  let ports: readonly number[] = [];
  const use: Balancer['use'] = async (given) => {
    ports = given;
    await ask({ ports });
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    detectsFailures: false,
    use,
    without: async (out, restart) => {
      const all = ports;
      await use(all.filter((each) => each !== out));
      await restart();
      await use(all);
    },
    failures: () => ask({}),
  };
}
