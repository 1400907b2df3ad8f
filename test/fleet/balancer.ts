import { compile, start } from '../support/runner/child-program.js';

/** What stands in front of the processes, and hands each request to any of them. */
export interface Balancer {
  readonly origin: string;
  /** Whether it finds out that a process is gone without being told. */
  readonly noticesByItself: boolean;
  /** The ports of the processes from now on. */
  use(ports: readonly number[]): Promise<void>;
  /** Has the process of a port ended and started anew by `restart`, while it gets no requests. */
  without(port: number, restart: () => Promise<void>): Promise<void>;
  /** How many answers of 5xx have gone through it, by status. */
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
    noticesByItself: false,
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
