import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** The unpacked Chromium from npm. */
export interface NpmChromium {
  readonly executablePath: string;
  /** Libraries that a minimal Linux lacks. */
  readonly libraryPath: string;
  /** Its own font, so that layouts are the same on every machine. */
  readonly fontsConf: string;
}

/**
 * Unpacks the Chromium of `@sparticuz/chromium` once, for Linux on x64. Test files that start at the same time may each unpack
 * one. The first moves it into place atomically, and the others use that one.
 */
export async function unpackNpmChromium(): Promise<NpmChromium> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The Chromium from npm runs on Linux on x64 only.');
  }
  const entry = require.resolve('@sparticuz/chromium');
  const home = join(dirname(entry), '..', '..');
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const folder = join(home, '..', '..', '.cache', 'express-intents', `chromium-${version}`);
  const executablePath = join(folder, 'chromium');
  if (!existsSync(executablePath)) await unpackInto(folder, entry);
  return {
    executablePath,
    libraryPath: join(folder, 'al2023', 'lib'),
    fontsConf: join(folder, 'fonts.conf'),
  };
}

async function unpackInto(folder: string, entry: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(`${folder}-`);
  // The package unpacks to the system's temporary folder and reuses files there, also incomplete ones of another process. So it
  // gets a temporary folder of its own. The second variable makes it unpack the libraries too.
  const env = { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  try {
    await run(process.execPath, ['-e', `require(${JSON.stringify(entry)}).executablePath()`], {
      env,
      timeout: 120_000,
    });
    await writeFile(join(staging, 'fonts.conf'), fontsConf(folder));
    // A Chromium left over from an earlier run can recreate the folder with its font cache.
    if (!existsSync(join(folder, 'chromium'))) await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(join(folder, 'chromium'))) throw error;
  }
}

const fontsConf = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
