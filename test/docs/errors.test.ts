import { readFileSync } from 'node:fs';
import { errorCodes } from '../../src/errors.js';

interface Entry {
  readonly code: string;
  readonly statuses: readonly number[];
  readonly text: string;
}

/** The entries of the page: the sections of its second-level headings. */
function entriesOf(page: string): Entry[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      code: text.split('\n', 1)[0] ?? '',
      statuses: [...text.matchAll(/^Status: (\d+)$/gm)].map(([, status]) => Number(status)),
      text,
    }));
}

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const statusByCode = Object.entries(errorCodes).map(([code, [status]]) => [code, [status]] as const);

describe('docs/errors.md and the codes of src/errors.ts', () => {
  const entries = entriesOf(page);

  test('have the same codes once, in the same order and with the same status', () => {
    expect(entries.map(({ code, statuses }) => [code, statuses])).toEqual(statusByCode);
  });

  test.each(entries)('have a meaning, a cause and a fix for $code', ({ text }) => {
    expect(text).toMatch(/^- \*\*Meaning\.\*\* \S.{20,}/m);
    expect(text).toMatch(/^- \*\*Cause\.\*\* \S.{20,}/m);
    expect(text).toMatch(/^- \*\*Fix\.\*\* \S.{20,}/m);
  });

  test('are checked: a missing, added, duplicate or changed entry is detected', () => {
    const changes: [string, string][] = [
      ['## invalid_json', '### invalid_json'],
      ['## invalid_json', '## invalid_jsn'],
      ['## invalid_json', '## invalid_json\n\nStatus: 400\n\n## invalid_json'],
      ['Status: 401', 'Status: 403'],
      ['Status: 401', 'status unknown'],
    ];
    for (const [from, to] of changes) {
      expect(page).toContain(from);
      const changed = entriesOf(page.replace(from, to)).map(({ code, statuses }) => [code, statuses]);
      expect(changed).not.toEqual(statusByCode);
    }
  });
});

describe('errorCodes', () => {
  test('has HTTP error statuses and short titles', () => {
    for (const [code, [status, title]] of Object.entries(errorCodes)) {
      expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(title).toMatch(/^[A-Z][\w\s/,]{5,79}$/);
    }
  });

  test('has unique titles', () => {
    const titles = Object.values(errorCodes).map(([, title]) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
