import { correction, generate, mode } from 'lean-qr';
import { qrModules } from '../../../src/browser/dialog/qr-code.js';

/** The modules by a library, with the same parameters. */
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

/** A text without repetition, with all bytes an address can contain. */
const textOf = (length: number): string =>
  Array.from({ length }, (_, at) => alphabet[(at * at + at) % alphabet.length]).join('');

/** The capacity of each version at level M in bytes, from the standard. */
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

test('the length is counted in bytes', () => {
  expect(qrModules('é'.repeat(7))).toHaveLength(21);
  expect(qrModules('é'.repeat(8))).toHaveLength(25);
});

test('a text of 667 bytes is refused', () => {
  expect(() => qrModules('x'.repeat(667))).toThrow(TypeError);
});
