/** The native unit: its rate is always fixed (`exact`), at 1. */
export const nativeCurrency = 'kin';

/** ISO 4217 codes. Their order is part of the protocol: never change or remove one, and append a new one at the end. */
const isoCodes =
  'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf ' +
  'clp cny cop crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl hrk ' +
  'htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lyd mad mdl mga ' +
  'mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd ' +
  'rub rwf sar sbd scr sdg sek sgd shp sll sos srd ssp stn syp szl thb tjs tmt tnd top try ttd twd tzs uah ugx usd ' +
  'uyu uzs ves vnd vuv wst xaf xcd xof xpf yer zar zmw';

/** The currencies of payments as lowercase three-letter codes. The position of a code is its index in the payload. */
export const currencyCodes: readonly string[] = Object.freeze([nativeCurrency, ...isoCodes.split(' ')]);
