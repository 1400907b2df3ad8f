import { correction, generate, mode } from 'lean-qr';
import { qrModules } from '../../src/browser/dialog/qr-code.js';

/** What a library draws for the same choices. */
function byLibrary(text: string): number[][] {
  const code = generate(text, {
    minCorrectionLevel: correction.M,
    maxCorrectionLevel: correction.M,
    mask: 2,
    modes: [mode.ascii],
  });
  const places = [...Array(code.size).keys()];
  return places.map((y) => places.map((x) => Number(code.get(x, y))));
}

const alphabet = 'https://wallet.example/open?a=1#34W4Shnddrx6y2jsJF622aU2Rkq';

/** A text that no two places of are alike, with every byte that an address can have. */
const textOf = (length: number): string =>
  Array.from({ length }, (_, at) => alphabet[(at * at + at) % alphabet.length]).join('');

/** As many bytes as each version holds, by the table of the standard, for level M. */
const capacities = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
] as const;

describe.each(capacities.map((bytes, index) => [index + 1, bytes] as const))('version %d', (version, bytes) => {
  test.each([bytes, bytes - 1, (capacities[version - 2] ?? 0) + 1])(
    'is drawn for %d bytes, as a library draws it',
    (length) => {
      const rows = qrModules(textOf(length));
      expect(rows).toHaveLength(17 + 4 * version);
      expect(rows).toEqual(byLibrary(textOf(length)));
    },
  );
});

test('bytes count, not letters', () => {
  expect(qrModules('é'.repeat(7))).toHaveLength(21);
  expect(qrModules('é'.repeat(8))).toHaveLength(25);
});

test('what no camera could read is refused', () => {
  expect(() => qrModules('x'.repeat(667))).toThrow(TypeError);
});
