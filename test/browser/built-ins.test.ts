import fc from 'fast-check';
import { fromJson, NativePromise, toJson } from '../../src/browser/built-ins.js';

const json = fc.json({ stringUnit: 'binary' });

test('fromJson and toJson agree with JSON for any JSON value', () => {
  fc.assert(
    fc.property(json, (text) => {
      const value: unknown = JSON.parse(text);
      expect(fromJson(text)).toEqual(value);
      expect(fromJson(JSON.stringify(value, undefined, 2))).toEqual(value);
      expect(JSON.parse(toJson(value) ?? '')).toEqual(value);
    }),
  );
});

test('toJson equals JSON.stringify for values that are not JSON', () => {
  const value = [
    undefined,
    () => 1,
    Number.NaN,
    { a: undefined, b: Symbol('b'), at: new Date(0) },
    new URL('https://shop.example'),
  ];
  expect(toJson(value)).toBe(JSON.stringify(value));
  expect(toJson(undefined)).toBeUndefined();
  expect(() => toJson(1n)).toThrow(TypeError);
});

test('fromJson refuses text that JSON.parse refuses', () => {
  const almost = fc.array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '01',
      '1.',
      '-',
      'e5',
      'true',
      'nul',
      ' ',
      '\u00a0',
      '\\',
      'x',
    ),
  );
  fc.assert(
    fc.property(almost, (parts) => {
      const text = parts.join('');
      const result = (parse: (text: string) => unknown): unknown => {
        try {
          return [parse(text)];
        } catch (error) {
          return (error as Error).name;
        }
      };
      expect(result(fromJson)).toEqual(result(JSON.parse));
    }),
    {
      numRuns: 3_000,
      examples: [
        ['01'],
        ['1', '1'],
        ['1.'],
        ['"a" "a"'],
        ['tr ue'],
        ['1', ' ', '1'],
        ['{"__proto__":1}'],
        ['"\n"'],
        [''],
      ].map((e) => [e]) as [string[]][],
    },
  );
});

test('NativePromise is the promise of async functions', async () => {
  expect((async () => undefined)()).toBeInstanceOf(NativePromise);
});
