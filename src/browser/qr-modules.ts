// A QR code (ISO/IEC 18004) of bytes, with error correction level M, and always with the mask that suits most texts best.
// The smallest library for this would be a sixth of all that people must load before they can pay; the tests hold every
// module against it.

/** By version, from 1 on: the codewords for error correction in each block, and the number of blocks, as digits to base 36. */
const correctionLengths = 'agqiogimmqummoossqqq';
const blockCounts = '11122444555899aabdeg';

/** Says level M and mask 2, which turns every third column over. */
const format = 0x5e7c;

/** 1 is dark; what is missing is still free. */
type Rows = number[][];

/** @throws {TypeError} for a text of more than 666 bytes, whose code no camera could read from a screen */
export function qrModules(text: string): Readonly<Rows> {
  const bytes = [...new TextEncoder().encode(text)];
  for (let version = 1; version <= 20; version += 1) {
    const rows = functionPatterns(version);
    const free = freeModules(rows);
    const read = (digits: string): number => Number.parseInt(digits[version - 1] as string, 36);
    const corrections = read(correctionLengths);
    const blocks = read(blockCounts);
    const capacity = (free.length >> 3) - corrections * blocks;
    // Half a byte says what comes, one or two say how much, and half a byte is the end: everything is moved by a half.
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
  throw new TypeError('This is too long for a QR code');
}

/** The modules that are the same in every code of a version. */
function functionPatterns(version: number): Rows {
  const size = 17 + 4 * version;
  const rows: Rows = Array.from({ length: size }, () => []);
  const set = (x: number, y: number, dark: number): void => {
    const row = rows[y];
    if (row && x >= 0 && x < size) row[x] ??= dark & 1;
  };
  // Squares in squares; the second from outside is light, and so is what surrounds the great ones.
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
  const places = [6, ...Array.from({ length: count }, (_, index) => size - 7 - index * step)];
  for (const y of places) {
    for (const x of places) if (rows[y]?.[x] === undefined) squares(x, y, 2);
  }
  for (let at = 0; at < size; at += 1) {
    set(at, 6, ~at);
    set(6, at, ~at);
  }
  set(8, size - 8, 1);
  for (let bit = 0; bit < 8; bit += 1) {
    // From both ends to the corner, past the lines of dots.
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

/** Those that hold the data: in pairs of columns from the right, up and down in turn. */
function freeModules(rows: Rows): (readonly [x: number, y: number])[] {
  const free: (readonly [x: number, y: number])[] = [];
  const last = rows.length - 1;
  for (let right = last, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    // The line of dots is no column.
    if (right === 6) right = 5;
    for (let at = 0; at <= last; at += 1) {
      const y = isUp ? last - at : at;
      for (const x of [right, right - 1]) if (rows[y]?.[x] === undefined) free.push([x, y]);
    }
  }
  return free;
}

/** Blocks of data and then their corrections, each block in turn giving one codeword. */
function withCorrection(data: readonly number[], corrections: number, blocks: number): number[] {
  // The last ones are longer by one.
  const startOf = (block: number): number =>
    block * Math.floor(data.length / blocks) + Math.max(0, block - blocks + (data.length % blocks));
  const parts = Array.from({ length: blocks }, (_, block) => data.slice(startOf(block), startOf(block + 1)));
  return [...inTurn(parts), ...inTurn(parts.map((part) => correctionOf(part, corrections)))];
}

const inTurn = (parts: readonly number[][]): number[] =>
  (parts.at(-1) ?? []).flatMap((_, index) => parts.flatMap((part) => part[index] ?? []));

/** The remainder of a division of polynomials over GF(256) (Reed and Solomon). */
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

function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 128; bit > 0; bit >>= 1) {
    product = (product << 1) ^ (product > 127 ? 0x11d : 0) ^ (other & bit ? one : 0);
  }
  return product;
}
