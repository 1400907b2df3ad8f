import { axeViolations } from '../support/axe.js';
import { state as reached, textOf } from '../support/checkout.js';
import { phone, type Show, startScriptedDialog, states } from '../support/scripted-dialog.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let show: Show;

beforeAll(async () => {
  show = await startScriptedDialog(async (url, view) => (await open(url, view)).page);
});

describe.each(['light', 'dark'] as const)('the dialog in %s', (colorScheme) => {
  test.each(states)('%s, %s: has no axe violations and no overflow on a phone', async (state, mode) => {
    const page = await show(state, mode, { ...phone, colorScheme });
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await page.locator('intent-button [data-primary]:visible').count()).toBeLessThanOrEqual(1);
  });

  // Without axe: its session with the debugger ends the emulation of the missing network.
  test('without a network, payment: says what to do, and has no overflow on a phone', async () => {
    const page = await show('waiting', 'payment', { ...phone, colorScheme });
    await page.context().setOffline(true);
    await reached(page, 'offline');
    expect(await textOf(page, 'status')).toBe('You are offline. If you have paid, keep this page open.');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});
