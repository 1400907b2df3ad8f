// The order is part of the protocol: a currency's place is its index in the payload. Entries are only ever added at the end.
// Browsers load them too, so those in a row with the same first letter share it: `aedfnll` is aed, afn and all.
const groups =
  'kin aedfnllmdngoarsudwgzn bambddtgnhdifmdndobrlsdtnwpynzd caddfhflpnyoprcupvezk djfkkopzd egprntbur fjdkp ' +
  'gbpelhsipmdnftqyd hkdnlrktguf idrlsnrqdrrsk jmdodpy kesgshrmfpwrwwdydzt lakbpkrrdyd ' +
  'maddlgakdmkntopruurvrwkxnyrzn nadgniookprzd omr pabengkhpkrlnyg qar ronsdubwf sarbdcrdgekgdhpllosrdsptnypzl ' +
  'thbjsmtndoprytdwdzs uahgxsdyuzs vesnduv wst xafcdofpf yer zarmw';

const currencies = groups.split(' ').flatMap(
  ([first, ...rest]) =>
    rest
      .join('')
      .match(/../g)
      ?.map((two) => first + two) ?? [],
);

/** The native unit. It alone is paid with a fixed rate (`exact`). */
export const nativeCurrency = 'kin';

/** The lowercase three-letter codes a payment can have, in the order of their index. */
export const currencyCodes: readonly string[] = Object.freeze(currencies);
