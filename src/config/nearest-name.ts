/** The one of some names that takes the fewest changes of a letter to become (Levenshtein). */
export function nearestName(name: string, names: readonly string[]): string {
  const [nearest = ''] = [...names].sort((one, other) => distance(name, one) - distance(name, other));
  return nearest;
}

/** So many letters are to be changed, put in or left out to come from one to the other. */
export function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
