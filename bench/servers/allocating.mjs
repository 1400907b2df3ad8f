// A server that allocates a known number of bytes, for the test of the column `KiB allocated`: arrays of 100 numbers. An array takes
// 32 bytes, and its elements 16 bytes and 8 for each number.
import { createServer } from 'node:http';

export const bytesOfArray = 32 + 16 + 8 * 100;

let last;

export default function allocating({ arrays }) {
  return createServer((_req, res) => {
    for (let count = 0; count < arrays; count += 1) last = new Array(100).fill(count);
    res.end(String(last.length));
  });
}
