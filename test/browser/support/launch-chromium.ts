import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { unpackNpmChromium } from './npm-chromium.js';

/**
 * Starts the Chromium at `CHROMIUM_PATH`, or the one from npm, or an installed one.
 * @throws {Error} with instructions if none starts
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

const noBrowser = `The tests in test/browser need a Chromium, and none starts. Install Chromium or Chrome with your system's
packages, or set CHROMIUM_PATH to its executable. Tried:`;

const args = [
  // Root cannot use the sandbox, as in containers. All pages are ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Containers have a small /dev/shm, which makes Chromium crash.
  '--disable-dev-shm-usage',
  // Names do not resolve, so requests to other hosts fail at once, also online.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

type Candidate = readonly [name: string, find: () => LaunchOptions | Promise<LaunchOptions>];

function candidates(): Candidate[] {
  const { CHROMIUM_PATH: chosen } = process.env;
  if (chosen) return [[`CHROMIUM_PATH=${chosen}`, () => ({ executablePath: chosen })]];
  const found = systemPaths().filter((path) => existsSync(path));
  return [
    ['Chromium from npm', () => fromNpm(false)],
    ['Chromium from npm with its libraries', () => fromNpm(true)],
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

/** The first lines; the rest is the command line. */
function reasonOf(error: unknown): string {
  // Errors of Node are not instances of the Error in a Jest context.
  const { message = String(error) } = error as { message?: string };
  const reason = /error while loading shared libraries[^\n]*/.exec(message)?.[0];
  return reason ?? message.split('\n').slice(0, 2).join(' ');
}
