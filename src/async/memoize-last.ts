/**
 * Caches the last result of a parser. A site has one account and one domain, and every request contains them. The caller must
 * not modify the result.
 */
export function memoizeLast<Value>(parse: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
