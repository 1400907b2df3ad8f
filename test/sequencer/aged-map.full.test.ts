import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs in a process of its own, which can collect garbage when it likes. Needs a build. */
const program = `
  const { AgedMap } = await import(process.argv[1]);
  const map = new AgedMap();
  const [held, forgotten] = [[], []];
  for (let n = 0; n < 20_000; n += 1) {
    const value = { n };
    (n < 10 ? held : forgotten).push(new WeakRef(value));
    map.set(n < 10 ? 'first' + n : 'again' + (n % 40), value);
    if (n % 5_000 === 0) map.oldest();
  }
  await new Promise((resolve) => setTimeout(resolve));
  globalThis.gc();
  const left = (refs) => refs.filter((ref) => ref.deref()).length;
  console.log(JSON.stringify({ size: map.size, held: left(held), forgotten: left(forgotten) }));
`;

test('what was replaced in the map is not kept, however long its oldest entry stays', async () => {
  const file = new URL('../../build/async/aged-map.js', import.meta.url).href;
  const args = ['--expose-gc', '--input-type=module', '--eval', program, '--', file];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { size, held, forgotten } = JSON.parse(stdout);
  expect([size, held]).toEqual([50, 10]);
  // Those in the map, and those of the tables since the last walk.
  expect(forgotten).toBeLessThan(3_000);
});
