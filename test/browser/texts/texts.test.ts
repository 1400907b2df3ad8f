import { Problem } from '../../../src/browser/flow/api.js';
import { amountIn, amountInLabel, localizeAmount } from '../../../src/browser/texts/amount.js';
import { de } from '../../../src/browser/texts/de.js';
import { en } from '../../../src/browser/texts/en.js';
import { es } from '../../../src/browser/texts/es.js';
import { fr } from '../../../src/browser/texts/fr.js';
import { ja } from '../../../src/browser/texts/ja.js';
import { buttonTextNames } from '../../../src/browser/texts/text-names.js';
import { problemText, textsByCode } from '../../../src/browser/texts/texts.js';
import { errorCodes } from '../../../src/errors.js';
import { encodePayload } from '../../../src/intents/payload.js';

// As in a bundle, without a configuration of the site.
Object.assign(globalThis, { intentSite: { load: () => undefined } });
const { buttonTexts, buttonTextsOf, negotiateTag } = await import('../../../src/browser/texts/button-texts.js');

/** The kinds of spaces differ between versions of Intl. */
const plain = (text: string): string => text.replace(/\s/gu, ' ');

describe('localizeAmount', () => {
  test.each([
    ['12.50', 'usd', 'en', '$12.50'],
    ['12.50', 'eur', 'de', '12,50 €'],
    ['100.00', 'jpy', 'ja', '￥100'],
    ['100.50', 'jpy', 'en', '¥100.50'],
    ['4.50', 'kwd', 'en', 'KWD 4.500'],
    ['5.00', 'kin', 'en', '5 KIN'],
  ])('formats %s %s in %s as %s', (amount, currency, locale, expected) => {
    expect(plain(localizeAmount(amount, currency, locale))).toBe(expected);
  });

  test.each([
    [1n, '$0.01'],
    [5n, '$0.05'],
    [123_456n, '$1,234.56'],
    [2n ** 32n, '$42,949,672.96'],
  ])('amountIn formats %s hundredths of a payload as %s', (hundredths, expected) => {
    const payload = encodePayload({
      kind: 'payment',
      money: { currency: 'usd', hundredths },
      nonce: new Uint8Array(11),
    });
    expect(amountIn(payload, 'en')).toBe(expected);
  });
});

test.each([
  ['Pay $4.50', '$4.50'],
  ['Jetzt 1.234,50 € bezahlen', '1.234,50 €'],
  ['Payer 1\u202f234,50\u00a0€', '1\u202f234,50\u00a0€'],
  ['Buy for USD 12', 'USD 12'],
  ['Pay order 1234 $4.50', undefined],
  ['Order no. 42 $19.90', undefined],
  ['iPhone 15 999 €', undefined],
  ['Pay £3 100g tea', undefined],
  ['$1.5M', undefined],
  ['Pay $5k', undefined],
  ['Buy TOP 10 for 5', undefined],
  ['A$5', 'A$5'],
  ['500円で支払う', '500円'],
  ['Pay 5 USD.', '5 USD'],
  ['Pay', undefined],
  ['Buy 3 teas', undefined],
  ['PAY 3', undefined],
  ['$3 off: pay $9', undefined],
])('amountInLabel finds in %j the amount %s', (label, expected) => {
  expect(amountInLabel(label)).toBe(expected);
});

describe('the locale', () => {
  test.each([
    [['de-AT'], 'de-AT'],
    [[undefined, null, '', 'fr-CA'], 'fr-CA'],
    [['xx', 'es-MX'], 'es-MX'],
    [['xx', 'yy'], 'en'],
    [['not a tag!', 'de_DE', 'ja'], 'ja'],
    [['__proto__', 'constructor'], 'en'],
    [[], 'en'],
  ])('for %j is %s', (wanted, expected) => {
    expect(negotiateTag(wanted)).toBe(expected);
  });

  test('selects the texts of its language, and English for any other', () => {
    expect(buttonTextsOf('fr-CA').payment).toBe('Payer avec votre portefeuille');
  });

  test.each(Object.entries({ de, es, fr, ja }))(
    '%s is supported and has every text, none equal to English',
    (language, texts) => {
      expect(negotiateTag([language])).toBe(language);
      for (const [translated, english] of [
        [texts, en],
        [buttonTextsOf(language), buttonTexts.en],
      ] as [object, Record<string, string>][]) {
        expect(Object.keys(translated)).toEqual(Object.keys(english));
        expect(Object.values(translated).filter((text) => text.trim() === '')).toEqual([]);
        expect(Object.entries(translated).filter(([key, text]) => text === english[key])).toEqual([]);
      }
      expect(texts.ask).toContain('{user}');
    },
  );
});

test('the names of the texts of the button are all', () => {
  expect(Object.keys(buttonTexts.en ?? {})).toEqual([...buttonTextNames]);
});

describe('problemText', () => {
  test('every code with a text of its own is an error code, or a problem that the button finds itself', () => {
    const own = ['offline', 'insecure_page', 'cookies_blocked'];
    expect([...textsByCode.keys()].filter((code) => !own.includes(code) && !Object.hasOwn(errorCodes, code))).toEqual(
      [],
    );
  });

  test.each([
    ['offline', en.unreachable],
    ['sequencer_timeout', en.service],
    ['intent_refused', en.refused],
    ['intent_not_found', en.gone],
    ['request_refused', en.refused],
    ['<script>', en.otherwise],
  ])('%s', (code, sentence) => {
    expect(problemText(new Problem(code), en)).toBe(sentence);
  });

  test.each([
    ['terms_not_accepted', 400, en.refused],
    ['cross_site_request', 403, en.refused],
    ['rate_limited', 429, en.otherwise],
    ['internal_error', 500, en.otherwise],
  ])('%s with status %i suggests a retry only if one can succeed', (code, status, sentence) => {
    expect(problemText(new Problem(code, status), en)).toBe(sentence);
  });

  test("returns the site's own text for a refusal only", () => {
    expect(problemText(new Problem('request_refused', 404, 'We do not sell that.'), en)).toBe('We do not sell that.');
    expect(problemText(new Problem('internal_error', 500, 'at secret.js:1'), en)).toBe(en.otherwise);
  });
});
