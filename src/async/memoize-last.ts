/**
 * The same parser, which remembers what the last text came to: a site has one account and one domain, and they come again
 * with every request. Nobody may change what it gives.
 */
export function rememberLast<Value>(parse: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: parse(text) };
    return last.value;
  };
}
