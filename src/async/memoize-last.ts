/** Caches the last result of a parser: every request of a site has the same account and domain. The result must not be modified. */
export function memoizeLast<Value>(parse: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
