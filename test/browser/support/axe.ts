import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations axe reports for the current page, one line per element. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Injected by the debugger, because the page's policy blocks scripts.
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Runtime.evaluate', { expression: source });
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target }) => `${id}: ${help} (${target.join(' ')})`),
    );
  } finally {
    await session.detach();
  }
}
