// Built-in functions that old libraries in a page replace, extend or break: Prototype, json.js, early polyfills. The files of the
// button also avoid `Array.from`, `Object.assign`, `bind` and `for ... in`, for the same reason.

/** The promise of async functions. `Promise` can be a polyfill. */
export const NativePromise = (async () => undefined)().constructor as PromiseConstructor;

/** `JSON.stringify`, without the `toJSON` of arrays and plain objects. @throws {TypeError} for a `bigint` */
export function toJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') throw new TypeError('A bigint is not JSON.');
  if (typeof value === 'string') {
    const escaped = (character: string): string =>
      /["\\]/.test(character) ? `\\${character}` : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // Also a lone half of a surrogate pair, which is not UTF-8.
    return `"${value.replace(/["\\\p{Cc}\p{Cs}]/gu, escaped)}"`;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'null';
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item) ?? 'null').join(',')}]`;
  // Such as a date.
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function' && toJSON !== ({} as { toJSON?: unknown }).toJSON) return toJson(toJSON.call(value));
  const members = Object.entries(value).map(([name, member]) => [toJson(name), toJson(member)]);
  return `{${members
    .filter(([, member]) => member)
    .map((member) => member.join(':'))
    .join(',')}}`;
}

const tokens =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON refuses them in strings.
  /"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|\w+|[^ \t\n\r]/gi;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const literals: Readonly<Record<string, unknown>> = { null: null, true: true, false: false };

/** `JSON.parse`. @throws {SyntaxError} */
export function fromJson(text: string): unknown {
  const rest = text.match(tokens) ?? [];
  let at = 0;
  const requireValid = (isValid: unknown): void => {
    if (!isValid) throw new SyntaxError('Not valid JSON.');
  };
  const parseString = (token = ''): string => {
    requireValid(token.length > 1 && token.startsWith('"'));
    return token
      .slice(1, -1)
      .replace(/\\(u(.{4})|.)/g, (_, one: string, code?: string) =>
        code ? String.fromCharCode(Number.parseInt(code, 16)) : (escapes[one] ?? one),
      );
  };
  const parseList = (end: string, parseItem: () => void): void => {
    if (rest[at] === end) at += 1;
    else {
      do parseItem();
      while (rest[at++] === ',');
      requireValid(rest[at - 1] === end);
    }
  };
  const parseValue = (): unknown => {
    const token = rest[at++] ?? '';
    if (token === '[') {
      const items: unknown[] = [];
      parseList(']', () => items.push(parseValue()));
      return items;
    }
    if (token === '{') {
      const members: [string, unknown][] = [];
      parseList('}', () => {
        const name = parseString(rest[at++]);
        requireValid(rest[at++] === ':');
        members.push([name, parseValue()]);
      });
      return Object.fromEntries(members);
    }
    if (Object.hasOwn(literals, token)) return literals[token];
    if (/^-?\d/.test(token)) return Number(token);
    return parseString(token);
  };
  const value = parseValue();
  requireValid(at === rest.length);
  return value;
}
