import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** The Chromium that npm brings, unpacked. */
export interface NpmChromium {
  readonly executablePath: string;
  /** Libraries that a small Linux does not have. */
  readonly libraryPath: string;
  /** Its own font, so that a page is as wide here as anywhere. */
  readonly fontsConf: string;
}

/**
 * Unpacks the Chromium of `@sparticuz/chromium` once, for Linux on x64. Test files that start at the same time may each
 * unpack one; the first to be done gives it its place, all at once, and the others take that one.
 */
export async function unpackNpmChromium(): Promise<NpmChromium> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The Chromium that npm brings is one for Linux on x64.');
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
  // It unpacks to the system's temporary folder and takes what it finds there, also another's half: so, a process with
  // a temporary folder of its own. The second variable asks for the libraries too.
  const env = { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  try {
    await run(process.execPath, ['-e', `require(${JSON.stringify(entry)}).executablePath()`], {
      env,
      timeout: 120_000,
    });
    await writeFile(join(staging, 'fonts.conf'), fontsConf(folder));
    // A Chromium that outlived an earlier run writes its font cache to a folder that was removed.
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
