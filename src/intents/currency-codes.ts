// The order is part of the protocol: the position of a currency is its index in the payload. Never change `groups`: that would
// shift later indexes. Append a new code to `currencyCodes` itself: `[nativeCurrency, ...currencies, 'new']`.
// Browsers load this table, so it is compressed: each group has a first letter, a to z, and contains the other two letters of
// its ISO 4217 codes. The first group, `edfnll...`, is aed, afn, all.
const groups =
  'edfnllmdngoarsudwgzn ambddtgnhdifmdndobrlsdtnwpynzd addfhflpnyoprcupvezk jfkkopzd gprntbur jdkp ' +
  'bpelhsipmdnftqyd kdnlrktguf drlsnrqdrrsk mdodpy esgshrmfpwrwwdydzt akbpkrrdyd addlgakdmkntopruurvrwkxnyrzn ' +
  'adgniookprzd mr abengkhpkrlnyg ar onsdubwf arbdcrdgekgdhpllosrdsptnypzl hbjsmtndoprytdwdzs ahgxsdyuzs ' +
  'esnduv st afcdofpf er armw';

const currencies = groups
  .split(' ')
  .flatMap((group, index) => group.match(/../g)?.map((two) => (index + 10).toString(36) + two) ?? []);

/** The native unit, the only currency with a fixed rate (`exact`). */
export const nativeCurrency = 'kin';

/** The currencies of payments as lowercase three-letter codes, ordered by index. */
export const currencyCodes: readonly string[] = Object.freeze([nativeCurrency, ...currencies]);
