import { buildElement } from './build-element.js';

// QR codes (ISO/IEC 18004) of bytes, with error correction level M and a fixed mask. The smallest library for this is a
// sixth of the size of the whole element. The tests compare every module with a library.

/** Modules of white on each side, which scanners need. */
const quietZone = 4;

/** A QR code, dark on white in every theme, drawn as one path. @param maxWidth in CSS pixels */
export function qrCode(text: string, maxWidth: number): SVGElement {
  const rows = qrModules(text);
  const size = rows.length + 2 * quietZone;
  let path = '';
  rows.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (dark) path += `M${x + quietZone} ${y + quietZone}h1v1h-1z`;
    });
  });
  // A module is a whole number of device pixels wide: modules of equal size scan best.
  const scale = Math.max(1, Math.floor((maxWidth * devicePixelRatio) / size)) / devicePixelRatio;
  return buildElement(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, width: size * scale, height: size * scale, 'shape-rendering': 'crispEdges' },
    buildElement('path', { d: path }),
  );
}

/** The error correction codewords of each block, by version, from 1. */
const correctionLengths = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
/** The number of blocks, by version, from 1. */
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

/** The format bits of level M with mask 2, which inverts every third column. */
const format = 0x5e7c;

/** 1 is dark, 0 light; a missing module is still free. */
type Rows = number[][];

/** @throws {TypeError} for more than 666 bytes: cameras cannot read larger codes from a screen */
export function qrModules(text: string): Readonly<Rows> {
  const bytes = [...new TextEncoder().encode(text)];
  for (let version = 1; version <= 20; version += 1) {
    const rows = functionPatterns(version);
    const free = freeModules(rows);
    const corrections = correctionLengths[version - 1] as number;
    const blocks = blockCounts[version - 1] as number;
    const capacity = (free.length >> 3) - corrections * blocks;
    // Half a byte of mode, one or two bytes of length, the data, half a byte of terminator: all bytes shift by four bits.
    const whole = [...(version < 10 ? [] : [bytes.length >> 8]), bytes.length & 255, ...bytes, 0];
    const data = whole.map((byte, at) => (((whole[at - 1] ?? 4) & 15) << 4) | (byte >> 4));
    if (data.length > capacity) continue;
    for (let pad = 236; data.length < capacity; pad = 253 - pad) data.push(pad);
    const codewords = withCorrection(data, corrections, blocks);
    free.forEach(([x, y], bit) => {
      (rows[y] as number[])[x] = (((codewords[bit >> 3] ?? 0) >> (~bit & 7)) ^ (x % 3 ? 0 : 1)) & 1;
    });
    return rows;
  }
  throw new TypeError('The wallet link is too long for a QR code. Shorten walletUrl.');
}

/** The modules that are the same in every code of one version. */
function functionPatterns(version: number): Rows {
  const size = 17 + 4 * version;
  const rows: Rows = [...Array(size)].map(() => []);
  const set = (x: number, y: number, dark: number): void => {
    const row = rows[y];
    if (row && x >= 0 && x < size) row[x] ??= dark & 1;
  };
  // Concentric squares; the second from the outside is light, and so is the margin of the large ones.
  const squares = (left: number, top: number, radius: number): void => {
    for (let y = -radius; y <= radius; y += 1) {
      for (let x = -radius; x <= radius; x += 1) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        set(left + x, top + y, ring === 4 || ring === radius / 2 ? 0 : 1);
      }
    }
  };
  squares(3, 3, 4);
  squares(size - 4, 3, 4);
  squares(3, size - 4, 4);
  const count = version > 1 ? Math.floor(version / 7) + 1 : 0;
  const step = Math.ceil((2 * version + 2) / count) * 2;
  const centers = [6, ...[...Array(count)].map((_, index) => size - 7 - index * step)];
  for (const y of centers) {
    for (const x of centers) if (rows[y]?.[x] === undefined) squares(x, y, 2);
  }
  for (let at = 0; at < size; at += 1) {
    set(at, 6, ~at);
    set(6, at, ~at);
  }
  set(8, size - 8, 1);
  for (let bit = 0; bit < 8; bit += 1) {
    // Towards the corner from both ends, skipping the timing patterns.
    const at = bit < 6 ? bit : bit + 1;
    set(8, at, format >> bit);
    set(at, 8, format >> (14 - bit));
    set(size - 1 - bit, 8, format >> bit);
    set(8, size - 1 - bit, format >> (14 - bit));
  }
  if (version > 6) setVersion(version, size, set);
  return rows;
}

function setVersion(version: number, size: number, set: (x: number, y: number, dark: number) => void): void {
  let bits = version;
  for (let bit = 0; bit < 12; bit += 1) bits = (bits << 1) ^ ((bits >> 11) * 0x1f25);
  bits |= version << 12;
  for (let bit = 0; bit < 18; bit += 1) {
    const far = size - 11 + (bit % 3);
    const near = Math.floor(bit / 3);
    set(far, near, bits >> bit);
    set(near, far, bits >> bit);
  }
}

/** The modules for data: in pairs of columns from the right, alternately up and down. */
function freeModules(rows: Rows): (readonly [x: number, y: number])[] {
  const free: (readonly [x: number, y: number])[] = [];
  const last = rows.length - 1;
  for (let right = last, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    // Skips the vertical timing pattern.
    if (right === 6) right = 5;
    for (let at = 0; at <= last; at += 1) {
      const y = isUp ? last - at : at;
      for (const x of [right, right - 1]) if (rows[y]?.[x] === undefined) free.push([x, y]);
    }
  }
  return free;
}

/** The data codewords, then the correction codewords, interleaved across the blocks. */
function withCorrection(data: readonly number[], corrections: number, blocks: number): number[] {
  // The last blocks are longer by one.
  const startOf = (block: number): number =>
    block * Math.floor(data.length / blocks) + Math.max(0, block - blocks + (data.length % blocks));
  const parts = [...Array(blocks)].map((_, block) => data.slice(startOf(block), startOf(block + 1)));
  return [...interleave(parts), ...interleave(parts.map((part) => correctionOf(part, corrections)))];
}

const interleave = (parts: readonly number[][]): number[] =>
  (parts.at(-1) ?? []).flatMap((_, index) => parts.flatMap((part) => part[index] ?? []));

/** The remainder of a polynomial division over GF(256) (Reed-Solomon). */
function correctionOf(data: readonly number[], length: number): number[] {
  let divisor = [1];
  for (let index = 0, root = 1; index < length; index += 1, root = times(root, 2)) {
    divisor = [...divisor, 0].map((each, at) => each ^ times(divisor[at - 1] ?? 0, root));
  }
  return data.reduce<number[]>(
    ([first = 0, ...rest], byte) => divisor.slice(1).map((each, at) => (rest[at] ?? 0) ^ times(each, byte ^ first)),
    [],
  );
}

/** Multiplication in GF(256). */
function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 128; bit > 0; bit >>= 1) {
    product = (product << 1) ^ (product > 127 ? 0x11d : 0) ^ (other & bit ? one : 0);
  }
  return product;
}
