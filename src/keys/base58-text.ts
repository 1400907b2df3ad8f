const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const codes = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0));
const zeroCode = codes[0] as number;

/** Five digits at a time: a limb and what is carried into it stay far under 2^53. */
const digitsOfLimb = 5;
const limbBase = 58 ** digitsOfLimb;

/**
 * Bytes in Base58 with the Bitcoin alphabet.
 *
 * bs58, which reads them, takes three times as long to write them, and puts the text together letter by letter: what it
 * gives is a chain of as many pieces, which lasts as long as the id does. Each intent has two such texts, for 5 us in all.
 */
export function base58Text(bytes: Uint8Array): string {
  const digits: number[] = [];
  for (const limb of limbsOf(bytes)) {
    for (let rest = limb, digit = 0; digit < digitsOfLimb; digit += 1) {
      const next = Math.floor(rest / 58);
      digits.push(codes[rest - next * 58] as number);
      rest = next;
    }
  }
  while (digits.at(-1) === zeroCode) digits.pop();
  for (let zeros = 0; bytes[zeros] === 0; zeros += 1) digits.push(zeroCode);
  return String.fromCharCode(...digits.reverse());
}

/** The number that the bytes are, the least limb first. */
function limbsOf(bytes: Uint8Array): number[] {
  const limbs: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let at = 0; at < limbs.length; at += 1) {
      const sum = (limbs[at] as number) * 256 + carry;
      carry = Math.floor(sum / limbBase);
      limbs[at] = sum - carry * limbBase;
    }
    if (carry > 0) limbs.push(carry);
  }
  return limbs;
}
