// Two processes that call each other's functions over the channel of `fork`.

interface Call {
  readonly call: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
interface Return {
  readonly returned: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** The end of a channel: `process` in a child, the child in its parent. */
export interface Channel {
  send?(message: Call | Return, done: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'exit' | 'disconnect', listener: () => void): unknown;
}

export type Handlers = Readonly<Record<string, (...args: never[]) => unknown>>;

class PeerGone extends Error {
  constructor() {
    super('The other process is gone.');
    this.name = 'PeerGone';
  }
}

/**
 * Answers the calls of the other process, and returns the function that calls it.
 * @returns a function that rejects with {@link PeerGone} once the other process has died
 */
export function connectPeer(channel: Channel, handlers: Handlers) {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let calls = 0;
  let isGone = false;
  const leave = (): void => {
    isGone = true;
    for (const { reject } of waiting.values()) reject(new PeerGone());
    waiting.clear();
  };
  channel.once('exit', leave);
  channel.once('disconnect', leave);
  const send = (message: Call | Return): void => {
    if (!isGone) channel.send?.(message, (error) => error && leave());
  };
  const answer = async ({ call, name, args }: Call): Promise<void> => {
    try {
      const handler = handlers[name];
      if (!handler) throw new Error(`There is no ${name} here.`);
      send({ returned: call, value: await handler(...(args as never[])) });
    } catch (error) {
      send({ returned: call, error: error instanceof Error ? error.message : String(error) });
    }
  };
  channel.on('message', (message) => {
    if ('call' in (message as object)) return void answer(message as Call);
    const { returned, value, error } = message as Return;
    const waiter = waiting.get(returned);
    waiting.delete(returned);
    if (error === undefined) waiter?.resolve(value as never);
    else waiter?.reject(new Error(error));
  });
  return <Value = void>(name: string, ...args: unknown[]): Promise<Value> =>
    new Promise<Value>((resolve, reject) => {
      if (isGone) return reject(new PeerGone());
      calls += 1;
      waiting.set(calls, { resolve, reject });
      send({ call: calls, name, args });
    });
}
