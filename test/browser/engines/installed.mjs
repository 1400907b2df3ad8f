import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const libraries = ['/usr/lib', '/usr/libexec'];

/** The browser of WebKitGTK, which is in no folder of PATH. Undefined if it is not installed. */
export function miniBrowserPath() {
  for (const library of libraries.filter((folder) => existsSync(folder))) {
    const folders = [library, ...readdirSync(library).map((name) => join(library, name))];
    for (const folder of folders) {
      for (const version of ['webkit2gtk-4.1', 'webkit2gtk-4.0', 'webkitgtk-6.0']) {
        const path = join(folder, version, 'MiniBrowser');
        if (existsSync(path)) return path;
      }
    }
  }
  return undefined;
}

/**
 * The path of a command. Undefined if it is not installed.
 *
 * @param {string} command
 */
const commandPath = (command) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find((path) => existsSync(path));

export const firefoxPath = () => commandPath('firefox-esr');

/** The packages of Debian to install for the engines that are missing. */
export function missingPackages() {
  const missing = [];
  if (!firefoxPath()) missing.push('firefox-esr');
  if (!commandPath('WebKitWebDriver') || !miniBrowserPath()) missing.push('webkit2gtk-driver');
  if (!commandPath('Xvfb')) missing.push('xvfb');
  return missing;
}

// For .ci/run.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(missingPackages().join(' '));
