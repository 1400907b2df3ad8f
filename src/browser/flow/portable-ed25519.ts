// The public key of a seed by RFC 8032 section 5.1.5, for browsers whose WebCrypto cannot derive it. One key needs no library:
// those are larger, and slow in Firefox. BigInt takes no constant time, which is acceptable here: the secret is on the screen.

const prime = 2n ** 255n - 19n;
const modulo = (number: bigint): bigint => ((number % prime) + prime) % prime;

/** Twice the constant d of the curve. */
const twiceD = 16295367250680780974490674513165176452449235426866156013048779062215315747161n;

/** Extended homogeneous coordinates (section 5.1.4). */
type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint];

const zero: Point = [0n, 1n, 1n, 0n];
const baseX = 15112221349535400772501151409588531511454012693041857206046113283949847762202n;
const baseY = 46316835694926478169428394003475163141307993866256225615783033603165251855960n;
const base: Point = [baseX, baseY, 1n, modulo(baseX * baseY)];

/** Also doubles a point. */
function add([x1, y1, z1, t1]: Point, [x2, y2, z2, t2]: Point): Point {
  const a = modulo((y1 - x1) * (y2 - x2));
  const b = modulo((y1 + x1) * (y2 + x2));
  const c = modulo(modulo(t1 * t2) * twiceD);
  const d = modulo(2n * z1 * z2);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [modulo(e * f), modulo(g * h), modulo(f * g), modulo(e * h)];
}

function power(number: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = number, bits = exponent; bits > 0n; bits >>= 1n, square = modulo(square * square)) {
    if (bits & 1n) result = modulo(result * square);
  }
  return result;
}

const toHex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** The Ed25519 public key of a seed, both 32 bytes. */
export async function publicKeyOf(seed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-512', seed)).subarray(0, 32).reverse();
  // The clamping of section 5.1.5.
  let scalar = (BigInt.asUintN(254, BigInt(`0x${toHex(hash)}`)) | (1n << 254n)) & ~7n;
  let sum = zero;
  for (let double = base; scalar > 0n; scalar >>= 1n, double = add(double, double)) {
    if (scalar & 1n) sum = add(sum, double);
  }
  const inverse = power(sum[2], prime - 2n);
  let encoded = modulo(sum[1] * inverse) | ((modulo(sum[0] * inverse) & 1n) << 255n);
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(encoded & 255n);
    encoded >>= 8n;
    return byte;
  });
}
