import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { unpackNpmChromium } from './npm-chromium.js';

/**
 * Starts the Chromium that `CHROMIUM_PATH` names; without it the one that npm brings; and where that does not run, one
 * of this system.
 * @throws {Error} that says what to do, where none starts
 */
export async function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const failures: string[] = [];
  for (const [name, find] of candidates()) {
    try {
      return await chromium.launch({ args, timeout: 120_000, ...options, ...(await find()) });
    } catch (error) {
      failures.push(`- ${name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`${noBrowser}\n${failures.join('\n')}`);
}

const noBrowser = `The tests in test/browser need a Chromium, and none starts here. Install Chromium or Chrome with your system's
packages, or set CHROMIUM_PATH to one that you have. These were tried:`;

const args = [
  // Root, as in a container, cannot use the sandbox; the pages are our own.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A small /dev/shm, as containers have, would end it in the middle of a page.
  '--disable-dev-shm-usage',
  // Nothing but the loopback address has a name: a page that would ask for the world fails at once, also online.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

type Candidate = readonly [name: string, find: () => LaunchOptions | Promise<LaunchOptions>];

function candidates(): Candidate[] {
  const { CHROMIUM_PATH: chosen } = process.env;
  if (chosen) return [[`CHROMIUM_PATH=${chosen}`, () => ({ executablePath: chosen })]];
  const found = systemPaths().filter((path) => existsSync(path));
  return [
    ['the one that npm brings', () => fromNpm(false)],
    ['the same, with the libraries it brings', () => fromNpm(true)],
    ...found.map((executablePath): Candidate => [executablePath, () => ({ executablePath })]),
  ];
}

async function fromNpm(withLibraries: boolean): Promise<LaunchOptions> {
  const { executablePath, libraryPath, fontsConf } = await unpackNpmChromium();
  const env = { ...process.env, FONTCONFIG_FILE: fontsConf };
  return { executablePath, env: withLibraries ? { ...env, LD_LIBRARY_PATH: libraryPath } : env };
}

function systemPaths(): string[] {
  if (process.platform === 'darwin') {
    return ['Google Chrome', 'Chromium', 'Microsoft Edge'].map(
      (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
    );
  }
  if (process.platform === 'win32') {
    const { PROGRAMFILES = '', 'PROGRAMFILES(X86)': x86 = '', LOCALAPPDATA = '' } = process.env;
    const names = ['Google\\Chrome\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe'];
    return [PROGRAMFILES, x86, LOCALAPPDATA].flatMap((folder) => names.map((name) => join(folder, name)));
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return ['/usr/bin', '/usr/local/bin', '/snap/bin'].flatMap((folder) => names.map((name) => join(folder, name)));
}

/** The first lines that say something; the rest is the command line. */
function reasonOf(error: unknown): string {
  // An error of Node is no instance of the Error that a test file knows.
  const { message = String(error) } = error as { message?: string };
  const told = /error while loading shared libraries[^\n]*/.exec(message)?.[0];
  return told ?? message.split('\n').slice(0, 2).join(' ');
}
