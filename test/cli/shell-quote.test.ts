import { execFileSync } from 'node:child_process';
import { shellQuote } from '../../src/cli/command.js';

it.each([
  ['/srv/shop/.env', '/srv/shop/.env'],
  ['/srv/my shop/.env', '"/srv/my shop/.env"'],
  // Double quotes also work in cmd.exe and PowerShell.
  ['C:\\Users\\Ada L\\shop (1)\\.env', '"C:\\Users\\Ada L\\shop (1)\\.env"'],
  ["/srv/it's/.env", '"/srv/it\'s/.env"'],
  // Special in double quotes in a shell.
  ['{"order":42}', '\'{"order":42}\''],
  ["a'$HOME", "'a'\\''$HOME'"],
  ['50%off%', "'50%off%'"],
  ['\\\\server\\share', "'\\\\server\\share'"],
  ['C:\\site folder\\', "'C:\\site folder\\'"],
])('shellQuote quotes %j as %s, which sh reads as the same text', (text, quoted) => {
  expect(shellQuote(text)).toBe(quoted);
  expect(execFileSync('sh', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' })).toBe(text);
});
