/** Caches the last result of a parser: most requests have the same account and domain. The result must not be modified. */
export function memoizeLast<Value>(parse: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
