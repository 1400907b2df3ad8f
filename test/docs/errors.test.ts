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
});
