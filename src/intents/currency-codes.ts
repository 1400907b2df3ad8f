// The order is part of the protocol: the place of a currency is its index in the payload. New entries go to the end only.
// Browsers load this table, so it is short: each group is a first letter, a to z, with the other two letters of its ISO 4217
// codes. The first group, `edfnll...`, is aed, afn, all.
const groups =
  'edfnllmdngoarsudwgzn ambddtgnhdifmdndobrlsdtnwpynzd addfhflpnyoprcupvezk jfkkopzd gprntbur jdkp ' +
  'bpelhsipmdnftqyd kdnlrktguf drlsnrqdrrsk mdodpy esgshrmfpwrwwdydzt akbpkrrdyd addlgakdmkntopruurvrwkxnyrzn ' +
  'adgniookprzd mr abengkhpkrlnyg ar onsdubwf arbdcrdgekgdhpllosrdsptnypzl hbjsmtndoprytdwdzs ahgxsdyuzs ' +
  'esnduv st afcdofpf er armw';

const currencies = groups
  .split(' ')
  .flatMap((group, index) => group.match(/../g)?.map((two) => (index + 10).toString(36) + two) ?? []);

/** The native unit, the only one with a fixed rate (`exact`). */
export const nativeCurrency = 'kin';

/** The lowercase three-letter codes a payment can have, in the order of their index. */
export const currencyCodes: readonly string[] = Object.freeze([nativeCurrency, ...currencies]);
