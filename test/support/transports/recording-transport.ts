import { formatBase58 } from '../../../src/keys/base58.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { plainSuccess } from '../sequencers/fault-sequencer.js';

const idOf = (field: { value?: Uint8Array | null } | null | undefined): string =>
  formatBase58(field?.value ?? new Uint8Array());

/** A transport that responds to every call with OK, and records the calls. */
export class RecordingTransport implements Transport {
  readonly calls: { readonly method: string; readonly body: Uint8Array }[] = [];
  readonly #answers = new Map<string, () => Promise<Uint8Array>>();

  async call({ method }: { method: string }, body: Uint8Array): Promise<Uint8Array> {
    this.calls.push({ method, body });
    const answer = this.#answers.get(method) ?? this.#answers.get('');
    return answer ? answer() : plainSuccess(method);
  }

  async close(): Promise<void> {}

  /** The intents whose status was read, Base58, in the order of calls. */
  polledIds(): string[] {
    return this.#bodiesOf('getStatus').map((body) => idOf(decode(v1.GetStatusRequest, body).intentId));
  }

  /** The registered webhooks. */
  registered(): { intent: string; url: string }[] {
    return this.#bodiesOf('registerWebhook').map((body) => {
      const { intentId, url } = decode(v1.RegisterWebhookRequest, body);
      return { intent: idOf(intentId), url };
    });
  }

  answerWith(method: string, body: Uint8Array): void {
    this.#answers.set(method, async () => body);
  }

  /** Makes the calls of a method fail, by default all calls. */
  failWith(error: Error, method = ''): void {
    this.#answers.set(method, () => Promise.reject(error));
  }

  /** Undoes `failWith`. */
  recover(method = ''): void {
    this.#answers.delete(method);
  }

  /** Keeps the calls of a method open until the returned function is called with their result. */
  hold(method: string): (error?: Error) => void {
    let end: (error?: Error) => void = () => undefined;
    const held = new Promise<Uint8Array>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve(plainSuccess(method)));
    });
    held.catch(() => undefined);
    this.#answers.set(method, () => held);
    return end;
  }

  #bodiesOf(name: string): Uint8Array[] {
    return this.calls.filter(({ method }) => method === name).map(({ body }) => body);
  }
}

export const recordingTransport = (): RecordingTransport => new RecordingTransport();
