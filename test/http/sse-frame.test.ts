import { chunkOf, eventFrame, retryFrame } from '../../src/http/sse-frame.js';
import type { IntentEvent, IntentEventKind } from '../../src/sequencer/intent-event.js';

/** Reads a stream as WHATWG HTML, section 9.2.6 has it: fields, and an event at each empty line. */
function dispatched(text: string): Record<string, string>[] {
  const events: Record<string, string>[] = [];
  let fields: Record<string, string> = {};
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') {
      if ('data' in fields) events.push(fields);
      fields = {};
      continue;
    }
    const [, name = '', value = ''] = line.match(/^([^:]*):? ?(.*)$/s) ?? [];
    fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
  }
  return events;
}

const evil = ['a\nevent: evil\ndata: {}\n\n', 'a\r\rdata: evil\r\r', 'a\r\n\r\nretry: 1', 'a\0b', ' a', ':'];

test.each(evil.map((text) => [JSON.stringify(text), text]))('an id of %s is one field of one event', (_shown, id) => {
  const events = dispatched(eventFrame({ kind: 'code_scanned', id }).toString());
  expect(events).toHaveLength(1);
  expect(Object.keys(events[0] ?? {}).sort()).toEqual(['data', 'event', 'id']);
  expect(events[0]?.event).toBe('code_scanned');
  expect(JSON.parse(events[0]?.data ?? '')).toEqual({ id });
});

test('a kind that is none breaks out of nothing', () => {
  const kind = 'code_scanned\ndata: {}\n\nevent: intent_submitted' as IntentEventKind;
  expect(dispatched(eventFrame({ kind, id: 'm1' }).toString())).toHaveLength(1);
});

test.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [1_767_323_045_006, '2026-01-02T03:04:05.006Z'],
  [8.64e15, '+275760-09-13T00:00:00.000Z'],
])('the time %s is told as ISO 8601', (timestampMs, timestamp) => {
  const event: IntentEvent = { kind: 'code_scanned', id: 'm1', timestampMs };
  expect(dispatched(eventFrame(event).toString())[0]?.data).toBe(JSON.stringify({ id: 'm1', timestamp }));
});

test.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, 9e15, -9e15])('the time %s is left out', (timestampMs) => {
  const event: IntentEvent = { kind: 'code_scanned', id: 'm1', timestampMs };
  expect(dispatched(eventFrame(event).toString())[0]?.data).toBe('{"id":"m1"}');
});

test('a hint to come back is whole milliseconds: browsers take digits alone', () => {
  expect(retryFrame(1234.56).toString()).toBe('retry: 1235\n\n');
});

// The chunks are those of the example in Wikipedia, "Chunked transfer encoding".
test.each([
  ['Wiki', '4\r\nWiki\r\n'],
  ['pedia i', '7\r\npedia i\r\n'],
  ['n \r\nchunks.', 'b\r\nn \r\nchunks.\r\n'],
  ['\u{1f511}\n', '5\r\n\u{1f511}\n\r\n'],
])('%j as a chunk of HTTP/1.1', (text, chunk) => {
  const frame = Buffer.from(text);
  expect(chunkOf(frame).toString()).toBe(chunk);
  // Made once for all who listen.
  expect(chunkOf(frame)).toBe(chunkOf(frame));
});
