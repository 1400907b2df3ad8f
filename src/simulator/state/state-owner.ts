import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { IntentError, readError } from '../../errors.js';

export interface StateOwner {
  readonly url: string;
  /** A random name, new at every start. */
  readonly instance: string;
  /** Its process id. */
  readonly pid: number;
}

export const instanceHeader = 'simulator-instance';
const format = 'express-intents simulator';
const timeoutMs = 1_000;

/** The setting has a name for each way to start the simulator: in a router, on the command line, in a test. */
export const otherFileFix = 'set another file with INTENT_SIMULATOR_STATE, --state-file or stateFile';

export const newOwner = (url: string): StateOwner => ({ url, instance: randomUUID(), pid: process.pid });

export function formatOwner({ url, instance, pid }: StateOwner): string {
  return `${JSON.stringify({ format, version: 1, url, instance, pid })}\n`;
}

export function isOwnerLine(line: string): boolean {
  return parseOwner(line) !== undefined;
}

/**
 * Requires that no running simulator owns the file.
 * @throws {IntentError} `invalid_configuration` with the URL of the owner
 */
export async function requireFreeStateFile(file: string): Promise<void> {
  const owner = parseOwner(firstLineOf(file));
  if (!owner || !(await isRunning(owner))) return;
  throw new IntentError(
    'invalid_configuration',
    `The state file ${file} is in use by the simulator at ${owner.url}. Stop that one, ` + `or ${otherFileFix}.`,
  );
}

/** Without a response in time, the owner may be stopped in a debugger, or another program may have its port. */
async function isRunning({ url, instance, pid }: StateOwner): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await answer.body?.cancel();
    return answer.headers.get(instanceHeader) === instance;
  } catch (error) {
    return readError(error).name === 'TimeoutError' && processExists(pid);
  }
}

export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user.
    return readError(error).code === 'EPERM';
  }
}

function parseOwner(line: string): StateOwner | undefined {
  try {
    const owner: Record<string, unknown> = JSON.parse(line);
    const { url, instance, pid } = owner;
    if (owner.format !== format || owner.version !== 1) return undefined;
    const isOurs = typeof url === 'string' && /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url);
    return isOurs && typeof instance === 'string' ? { url, instance, pid: Number(pid) } : undefined;
  } catch {
    return undefined;
  }
}

function firstLineOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const start = Buffer.alloc(1_024);
    return start.toString('utf8', 0, readSync(descriptor, start)).split('\n', 1)[0] ?? '';
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
