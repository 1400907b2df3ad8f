import { formatClientSecret, intentIdOf, parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { encode, v1 } from '../../../src/wire/codec.js';

export type Status = Partial<Record<'exists' | 'codeScanned' | 'intentSubmitted', boolean>>;

const payload = Uint8Array.from({ length: 20 }, (_, at) => (at === 0 ? 3 : at < 9 ? 0 : at));
export const clientSecret = formatClientSecret(payload);
export const rendezvous = rendezvousKeyPair(parseClientSecret(clientSecret));
export const id = intentIdOf(rendezvous);

/** A stream that the test controls. */
export class ScriptedStream {
  readonly #responses: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};
  isLeft = false;

  send(...messages: v1.Message.$Properties[]): void {
    this.sendBytes(encode(v1.OpenMessageStreamResponse, { messages }));
  }

  sendBytes(response: Uint8Array): void {
    this.#responses.push(response);
    this.#wake();
  }

  end(end: { readonly error?: unknown } = {}): void {
    this.#end = end;
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        while (this.#responses.length === 0 && !this.#end) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        const value = this.#responses.shift();
        if (value) return { done: false, value };
        if (this.#end && 'error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.isLeft = true;
        return { done: true, value: undefined };
      },
    };
  }
}

/** A transport whose status and streams the test sets, and which records the times of status calls. */
export class ScriptedTransport implements Transport {
  status: Status | Error = { exists: true };
  readonly statusCallsAtMs: number[] = [];
  readonly streams: { readonly stream: ScriptedStream; readonly atMs: number; readonly body: Uint8Array }[] = [];
  /** Called with each opened stream. */
  onOpen: (stream: ScriptedStream) => void = () => {};
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The last opened stream. */
  get stream(): ScriptedStream {
    const last = this.streams.at(-1);
    if (!last) throw new Error('No stream was opened.');
    return last.stream;
  }

  call: Transport['call'] = async (_operation, _body, options) => {
    options?.signal?.throwIfAborted();
    this.statusCallsAtMs.push(this.#now());
    if (this.status instanceof Error) throw this.status;
    return encode(v1.GetStatusResponse, this.status);
  };

  openStream: Required<Transport>['openStream'] = (_operation, body) => {
    const stream = new ScriptedStream();
    this.streams.push({ stream, atMs: this.#now(), body });
    this.onOpen(stream);
    return stream;
  };

  close = async (): Promise<void> => undefined;
}

/** A message whose id is 16 times `idByte`; with a key, it is signed like that of a client. */
export function message(
  idByte: number,
  content: v1.Message.$Properties,
  signer?: { sign(bytes: Uint8Array): Uint8Array },
): v1.Message.$Properties {
  const signature = signer && { sendMessageRequestSignature: { value: signer.sign(encode(v1.Message, content)) } };
  return { id: { value: new Uint8Array(16).fill(idByte) }, ...signature, ...content };
}
