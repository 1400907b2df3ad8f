/** What there is inside a channel of grpc-js 1.12 to 1.14; in another version there may be less. */
interface Inside {
  readonly internalChannel?: {
    readonly subchannelPool?: { readonly pool?: Readonly<Record<string, readonly Entry[]>> };
  };
}

interface Entry {
  readonly subchannel?: { readonly connector?: { shutdown?(): void } };
}

/**
 * For a channel that is about to be closed. grpc-js closes the connections that stand, and not those that are still to
 * come: it goes on to wait for one that says nothing, and tries one that failed once more; where that works, it is kept for
 * ever. So each time that a service is away for a moment there would be one more.
 */
export function stopConnecting(channel: object): void {
  const { pool = {} } = (channel as Inside).internalChannel?.subchannelPool ?? {};
  for (const { subchannel } of Object.values(pool).flat()) subchannel?.connector?.shutdown?.();
}
