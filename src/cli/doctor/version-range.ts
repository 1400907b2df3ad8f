type Version = readonly [major: number, minor: number, patch: number];

/** Whether a version is within a range as this package states them: `>=1.2.3`, `^1.2.3`, and several of them parted by `||`. */
export function satisfies(version: string, range: string): boolean {
  const given = parse(version);
  return range.split('||').some((part) => isWithin(given, part.trim()));
}

function isWithin(given: Version, part: string): boolean {
  const least = parse(part.replace(/^(?:>=|\^)/, ''));
  if (compare(given, least) < 0) return false;
  if (part.startsWith('>=')) return true;
  // Of 0.x each minor version may break.
  return given[0] === least[0] && (least[0] > 0 || given[1] === least[1]);
}

function parse(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.replace(/^v/, '').split(/[.+-]/).map(Number);
  return [major, minor, patch];
}

function compare(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
