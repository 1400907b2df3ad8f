import type { IntentStatus } from '../../sequencer/calls.js';
import type { IntentEvent } from '../../sequencer/watch/intent-event.js';

/** The three flags, named as in the interface, section 2.6. */
export interface StatusBody {
  readonly exists: boolean;
  readonly code_scanned: boolean;
  readonly intent_submitted: boolean;
}

export function statusBody({ exists, codeScanned, intentSubmitted }: IntentStatus): StatusBody {
  return { exists, code_scanned: codeScanned, intent_submitted: intentSubmitted };
}

/** A comment. Proxies close silent streams (WHATWG HTML, section 9.2.7). */
export const heartbeatFrame: Buffer = Buffer.from(':\n\n');

let last: { readonly frame: Buffer; readonly chunk: Buffer } | undefined;

/** A frame as a chunk of HTTP/1.1 (RFC 9112, section 7.1). Successive clients share it. */
export function chunkOf(frame: Buffer): Buffer {
  if (last?.frame !== frame) {
    const size = Buffer.from(`${frame.length.toString(16)}\r\n`);
    last = { frame, chunk: Buffer.concat([size, frame, Buffer.from('\r\n')]) };
  }
  return last.chunk;
}

/** Sets how long the browser waits before it reconnects, in milliseconds. */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${Math.round(retryMs)}\n\n`);
}

/** The status has no id: the browser must reconnect with the id of the last event. */
export function statusFrame(status: IntentStatus): Buffer {
  return Buffer.from(`event: status\ndata: ${JSON.stringify(statusBody(status))}\n\n`);
}

/** What the payer buys. Only the browser that created the intent receives it. It has no id, like the status. */
export function descriptionFrame(description: string): Buffer {
  return Buffer.from(`event: description\ndata: ${JSON.stringify({ description })}\n\n`);
}

/** An event, named after its kind (interface section 6). */
export function eventFrame({ kind, id, timestampMs }: IntentEvent): Buffer {
  const timestamp = timestampMs === undefined ? undefined : isoTime(timestampMs);
  const data = JSON.stringify({ id, timestamp });
  return Buffer.from(`event: ${oneLine(kind)}\nid: ${oneLine(id)}\ndata: ${data}\n\n`);
}

/** Anyone who sees the code can send a message with any timestamp, even an invalid one. */
function isoTime(timestampMs: number): string | undefined {
  const date = new Date(timestampMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A line break would start another field, and an id must not contain NUL. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}
