import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs in a separate process, which collects garbage as usual. Needs a build. */
const program = `
  const { BoundedMap } = await import(process.argv[1]);
  const map = new BoundedMap({ capacity: 50 });
  const [held, forgotten] = [[], []];
  for (let n = 0; n < 20_000; n += 1) {
    const value = { n };
    (n < 10 ? held : forgotten).push(new WeakRef(value));
    map.set(n < 10 ? 'first' + n : 'again' + (n % 40), value);
  }
  await new Promise((resolve) => setTimeout(resolve));
  globalThis.gc();
  const left = (refs) => refs.filter((ref) => ref.deref()).length;
  console.log(JSON.stringify({ size: map.size, held: left(held), forgotten: left(forgotten) }));
`;

test('a bounded map retains no replaced value, however old its oldest entry is', async () => {
  const file = new URL('../../build/async/bounded-map.js', import.meta.url).href;
  const args = ['--expose-gc', '--input-type=module', '--eval', program, '--', file];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { size, held, forgotten } = JSON.parse(stdout);
  expect([size, held]).toEqual([50, 10]);
  expect(forgotten).toBe(40);
});
