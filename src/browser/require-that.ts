/** @throws {TypeError} that says how it must be, where it is not so */
export function requireThat(isSo: boolean, what: string, form: unknown): asserts isSo {
  if (!isSo) throw new TypeError(`The ${what} must be ${form}`);
}
