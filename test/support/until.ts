/** Waits for what is about to happen; four seconds at most. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 4_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`It never came true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
