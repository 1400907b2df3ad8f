import type { IntentStatus } from '../../sequencer/calls.js';
import type { IntentEvent } from '../../sequencer/watch/intent-event.js';
import { statusBody } from './status-body.js';

/** A comment: it keeps proxies from taking a quiet stream for a dead one (WHATWG HTML, section 9.2.7). */
export const heartbeatFrame: Buffer = Buffer.from(':\n\n');

let last: { readonly frame: Buffer; readonly chunk: Buffer } | undefined;

/** A frame as a chunk of HTTP/1.1 (RFC 9112, section 7.1); made once for all who are sent the same one after the other. */
export function chunkOf(frame: Buffer): Buffer {
  if (last?.frame !== frame) {
    const size = Buffer.from(`${frame.length.toString(16)}\r\n`);
    last = { frame, chunk: Buffer.concat([size, frame, Buffer.from('\r\n')]) };
  }
  return last.chunk;
}

/** Tells the browser how long to wait before it comes back, in milliseconds. */
export function retryFrame(retryMs: number): Buffer {
  return Buffer.from(`retry: ${Math.round(retryMs)}\n\n`);
}

/** The status carries no id, so that the browser still comes back with that of the last event. */
export function statusFrame(status: IntentStatus): Buffer {
  return Buffer.from(`event: status\ndata: ${JSON.stringify(statusBody(status))}\n\n`);
}

/** An event, named as its kind (interface section 6). */
export function eventFrame({ kind, id, timestampMs }: IntentEvent): Buffer {
  const timestamp = timestampMs === undefined ? undefined : isoTime(timestampMs);
  const data = JSON.stringify({ id, timestamp });
  return Buffer.from(`event: ${oneLine(kind)}\nid: ${oneLine(id)}\ndata: ${data}\n\n`);
}

/** Whoever sees the code can put any time into a message, also one that there is not. */
function isoTime(timestampMs: number): string | undefined {
  const date = new Date(timestampMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A line break would begin another field, and an id with a NUL is none. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}
