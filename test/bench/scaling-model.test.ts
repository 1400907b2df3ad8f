import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { textOf } from '../docs/guides.js';
import { root } from '../package/consumer-project.js';

test('docs/scaling.md, several-databases.md and measurements.md have the tables that the model prints', async () => {
  const { printed } = await import(pathToFileURL(path.join(root, 'bench/scaling-model.mjs')).href);
  const pages = ['docs/scaling.md', 'docs/several-databases.md', 'docs/measurements.md'].map(textOf).join('\n');
  const tables = [...pages.matchAll(/<!-- npm run model -- (.*) -->\n\n((?:\|.*\n)+)/g)];
  expect(tables.length).toBeGreaterThanOrEqual(4);
  for (const [, line = '', table] of tables) {
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
    expect(table).toBe(await printed(args));
  }
});
