/**
 * A parser that remembers the result of the last text. A site has one account and one domain, and both come with every
 * request. The caller must not change the result.
 */
export function memoizeLast<Value>(parse: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
