/**
 * Reads the fragment of a wallet link: `<client secret>&success=<url>&cancel=<url>`. Links are untrusted, so only http and
 * https addresses are accepted: others could run a script.
 */
export function parseFragment(fragment) {
  const [code = '', ...rest] = fragment.split('&');
  const given = new URLSearchParams(rest.join('&'));
  return { code, success: httpUrl(given.get('success')), cancel: httpUrl(given.get('cancel')) };
}

function httpUrl(text) {
  const url = text && URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
