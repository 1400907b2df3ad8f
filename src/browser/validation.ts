/** @throws {TypeError} that names the required form */
export function requireThat(condition: unknown, what: string, form: unknown): asserts condition {
  if (!condition) throw new TypeError(`The ${what} must be ${form}.`);
}

export function tryOrUndefined<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** @returns the absolute URL @throws {TypeError} for anything but http and https, such as `javascript:` */
export function httpUrl(text: string, what: string): string {
  // `trim` throws unless the option is a string.
  const url = tryOrUndefined(() => new URL(text.trim(), location.href).href) as string;
  requireThat(/^https?:/.test(url), what, 'an http or https URL');
  return url;
}
