/**
 * What a wallet link says: `<client secret>&success=<url>&cancel=<url>`. The addresses come from whoever made the link, so
 * only http and https ones count: any other could be a script.
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
