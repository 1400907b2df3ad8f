import { Problem } from '../../../src/browser/flow/api.js';
import { amountIn, localizeAmount } from '../../../src/browser/texts/amount.js';
import { buttonTexts, buttonTextsOf, negotiateTag } from '../../../src/browser/texts/button-texts.js';
import { en } from '../../../src/browser/texts/en.js';
import { problemText, textsOf } from '../../../src/browser/texts/texts.js';
import { errorCodes } from '../../../src/errors.js';
import { encodePayload } from '../../../src/intents/payload.js';

/** The kinds of spaces differ between versions of Intl. */
const plain = (text: string): string => text.replace(/\s/gu, ' ');

describe('localizeAmount', () => {
  test.each([
    ['12.50', 'usd', 'en', '$12.50'],
    ['12.50', 'eur', 'de', '12,50 €'],
    ['1234.56', 'usd', 'de-AT', '$ 1.234,56'],
    ['100.00', 'jpy', 'ja', '￥100'],
    ['100.50', 'jpy', 'en', '¥100.50'],
    ['4.50', 'kwd', 'en', 'KWD 4.500'],
    ['5.00', 'kin', 'en', '5 KIN'],
    ['1234567.25', 'kin', 'en', '1,234,567.25 KIN'],
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

  test('amountIn throws for an unknown currency', () => {
    expect(() => amountIn(Uint8Array.of(2, 255, 1), 'en')).toThrow(TypeError);
  });
});

describe('the locale', () => {
  test.each([
    [['de-AT'], 'de-AT'],
    [['ja', 'fr'], 'ja'],
    [[undefined, null, '', 'fr-CA'], 'fr-CA'],
    [['xx', 'es-MX'], 'es-MX'],
    [['xx', 'yy'], 'en'],
    [['DE'], 'de'],
    [['not a tag!', 'de_DE', 'ja'], 'ja'],
    [['enough'], 'en'],
    [['__proto__', 'constructor'], 'en'],
    [[], 'en'],
  ])('for %j is %s', (wanted, expected) => {
    expect(negotiateTag(wanted)).toBe(expected);
  });

  test('selects the texts of its language, and English for any other', () => {
    expect(textsOf('de-AT').cancel).toBe('Abbrechen');
    expect(textsOf('ja').cancel).toBe('キャンセル');
    expect(textsOf('xx')).toBe(en);
    expect(buttonTextsOf('fr-CA').payment).toBe('Payer avec votre portefeuille');
  });

  test.each(['de', 'es', 'fr', 'ja'])('%s is supported and has every text, none equal to English', (language) => {
    expect(negotiateTag([language])).toBe(language);
    for (const [texts, english] of [
      [textsOf(language), en],
      [buttonTextsOf(language), buttonTexts.en],
    ] as [object, Record<string, string>][]) {
      expect(Object.keys(texts)).toEqual(Object.keys(english));
      expect(Object.values(texts).filter((text) => text.trim() === '')).toEqual([]);
      expect(Object.entries(texts).filter(([key, text]) => text === english[key])).toEqual([]);
    }
    expect(textsOf(language).ask).toContain('{user}');
  });
});

describe('problemText', () => {
  test.each(Object.keys(errorCodes))('has a text for %s', (code) => {
    expect(Object.values(en)).toContain(problemText(new Problem(code, 400), en));
  });

  test.each([
    ['offline', en.unreachable],
    ['sequencer_timeout', en.service],
    ['sequencer_error', en.refused],
    ['intent_refused', en.refused],
    ['amount_too_small', en.amount],
    ['intent_not_found', en.gone],
    ['insecure_page', en.insecure],
    ['request_refused', en.refused],
    ['toString', en.otherwise],
    ['<script>', en.otherwise],
  ])('%s', (code, sentence) => {
    expect(problemText(new Problem(code), en)).toBe(sentence);
  });

  test.each([
    ['terms_not_accepted', 400, en.refused],
    ['cross_site_request', 403, en.refused],
    ['unsupported_media_type', 415, en.refused],
    ['idempotency_key_reused', 422, en.refused],
    ['login_pending', 409, en.otherwise],
    ['rate_limited', 429, en.otherwise],
    ['internal_error', 500, en.otherwise],
  ])('%s with status %i suggests a retry only if one can succeed', (code, status, sentence) => {
    expect(problemText(new Problem(code, status), en)).toBe(sentence);
  });

  test('an answer from other software is a refusal if its status is', () => {
    expect(problemText(new Problem('unreadable', 403), en)).toBe(en.refused);
    expect(problemText(new Problem('unreadable', 502), en)).toBe(en.otherwise);
  });

  test("returns the site's own text for a refusal only", () => {
    expect(problemText(new Problem('request_refused', 404, 'We do not sell that.'), en)).toBe('We do not sell that.');
    expect(problemText(new Problem('internal_error', 500, 'at secret.js:1'), en)).toBe(en.otherwise);
  });
});
