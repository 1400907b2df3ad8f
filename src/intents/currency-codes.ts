// The order is part of the protocol: a currency's place is its index in the payload. Entries are only ever added at the end.
// Browsers load them too, so those of ISO 4217 stand here by their first letter, from a to z, and without it: the first group
// `edfnll` is aed, afn and all.
const groups =
  'edfnllmdngoarsudwgzn ambddtgnhdifmdndobrlsdtnwpynzd addfhflpnyoprcupvezk jfkkopzd gprntbur jdkp ' +
  'bpelhsipmdnftqyd kdnlrktguf drlsnrqdrrsk mdodpy esgshrmfpwrwwdydzt akbpkrrdyd addlgakdmkntopruurvrwkxnyrzn ' +
  'adgniookprzd mr abengkhpkrlnyg ar onsdubwf arbdcrdgekgdhpllosrdsptnypzl hbjsmtndoprytdwdzs ahgxsdyuzs ' +
  'esnduv st afcdofpf er armw';

const currencies = groups
  .split(' ')
  .flatMap((group, index) => group.match(/../g)?.map((two) => (index + 10).toString(36) + two) ?? []);

/** The native unit. It alone is paid with a fixed rate (`exact`). */
export const nativeCurrency = 'kin';

/** The lowercase three-letter codes a payment can have, in the order of their index. */
export const currencyCodes: readonly string[] = Object.freeze([nativeCurrency, ...currencies]);
