// Return addresses of an attacker, to another site or to a script. Some are harmless: the URL parser decides.

const evil = ['evil.example', 'shop.example@evil.example', 'evil.example:443', '[::1]', '2130706433', 'ｅvil.example'];
const slashes = [
  ...['//', '///', '////', '/\\', '\\/', '\\\\', '\\', '/\\/', '/\t/', '/\n/', '/\r\n/', '\t//', ' //', '/ /'],
  ...['/%09/', '/%2f', '/%5c', '%2f%2f', '/.//', '/..//', '/./\\', '/%2e//', '/;//', '／／', '/／', '\u2215\u2215'],
  ...['\u0000//', '\ufeff//', 'https://', 'HTTPS://', 'https:/', 'https:', 'https:\\\\', 'http://', ' https://'],
  ...['ht\ntps://', '\u0001https://', 'https://shop.example@', 'https://shop.example.', 'https:////'],
  ...['//shop.example%00.', '//shop.example\\@', 'ftp://'],
];
const scripts = [
  ...['javascript:', 'JavaScript:', 'java\nscript:', 'java\tscript:', ' javascript:', '\u0001javascript:'],
  ...['javascript&colon;', 'vbscript:', 'data:text/html,', 'data:text/html;base64,', 'view-source:', 'blob:'],
  ...['file:///', 'about:', 'intent://', 'filesystem:', 'ws://', 'mailto:', 'jar:', 'x:'],
  ...['javascript://shop.example/%0a', '\u00a0javascript:', 'javascript\u003a'],
];
const bodies = ['alert(1)', '//evil.example/%0aalert(1)', '<script>alert(1)</script>', 'PHNjcmlwdD4='];

/** More than two hundred. */
export const hostileAddresses: readonly string[] = [
  ...slashes.flatMap((slash) => evil.map((host) => `${slash}${host}`)),
  ...scripts.flatMap((scheme) => bodies.map((body) => `${scheme}${body}`)),
];
