import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { IntentError, readError } from '../../errors.js';
import { extractSignedBytes } from '../../intents/signed-intent.js';
import { parseIntentId } from '../../keys/base58.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import type { IntentPersistence, PersistedIntent, StoredIntent } from './intent-store.js';
import { type MailboxMessage, toWireMessage, withSignedBytes } from './mailbox.js';
import { formatOwner, isOwnerLine, otherFileFix, processExists, type StateOwner } from './state-owner.js';
import { verifyIntentMessage } from './verified-intent.js';

/** Appended characters after which the file is rewritten. */
const maxAppended = 8 * 1024 * 1024;

/**
 * The file that keeps intents across restarts, as lines of JSON. The first line names the owner. Every other line has a whole
 * intent or the id of a forgotten one; if an id has several lines, the last one applies.
 *
 * Each change is one append. At every start and after `maxAppended` characters, a new file is written and renamed over the
 * old one. Its name has the process id, because two simulators can start at the same time. The data survives a crash of the
 * process at any time, but not a power failure.
 */
export class StateFile implements IntentPersistence {
  readonly #file: string;
  readonly #owner: StateOwner;
  /** Undefined before the first write. It also shows whether another file has replaced this one. */
  #descriptor: number | undefined;
  /** Whether the next write rewrites the file: at first, and after a failed write, which may have left an incomplete line. */
  #mustRewrite = true;
  #appended = 0;
  #isClosed = false;

  constructor(file: string, owner: StateOwner) {
    this.#file = file;
    this.#owner = owner;
  }

  write(changed: readonly StoredIntent[], forgotten: readonly string[], all: () => Iterable<StoredIntent>): void {
    if (this.#isClosed)
      throw problemOf(this.#file, 'is closed, because the simulator was closed', 'Start another simulator.');
    try {
      const isRemoved = this.#isRemoved();
      if (this.#descriptor === undefined || isRemoved || this.#mustRewrite) this.#rewrite(all());
      else this.#append(this.#descriptor, [...changed.map(toLine), ...forgotten.map((id) => ({ forgotten: id }))]);
    } catch (error) {
      if (error instanceof IntentError) throw error;
      this.#mustRewrite = true;
      throw problemOf(this.#file, `cannot be written (${String(readError(error).code)})`, accessFix, error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#release();
  }

  #release(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #append(descriptor: number, lines: readonly object[]): void {
    const text = lines.map(formatLine).join('');
    appendFileSync(descriptor, text);
    this.#appended += text.length;
    this.#mustRewrite = this.#appended > maxAppended;
  }

  #rewrite(intents: Iterable<StoredIntent>): void {
    const next = newFileOf(this.#file, this.#owner.pid);
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    removeLeftovers(this.#file);
    const lines = [...intents].map((intent) => formatLine(toLine(intent)));
    writeFileSync(next, [formatOwner(this.#owner), ...lines].join(''), { mode: 0o600 });
    const descriptor = openSync(next, 'a');
    try {
      renameSync(next, this.#file);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    this.#release();
    this.#descriptor = descriptor;
    this.#appended = 0;
    this.#mustRewrite = false;
  }

  /** Whether the file was removed; a new one is then written. @throws {IntentError} if another file has replaced it */
  #isRemoved(): boolean {
    if (this.#descriptor === undefined || fstatSync(this.#descriptor).nlink > 0) return false;
    if (!existsSync(this.#file)) return true;
    throw problemOf(
      this.#file,
      'was replaced, or is in use by another simulator',
      `Stop the other simulator, or ${otherFileFix}.`,
    );
  }
}

const newFileOf = (file: string, pid: number | string): string => `${file}.${pid}.new`;

/** Removes the new files of processes that ended before they renamed them. */
function removeLeftovers(file: string): void {
  const folder = path.dirname(file);
  for (const name of readdirSync(folder)) {
    const pid = /\.(\d+)\.new$/.exec(name)?.[1];
    if (pid === undefined || name !== path.basename(newFileOf(file, pid))) continue;
    if (!processExists(Number(pid))) rmSync(path.join(folder, name), { force: true });
  }
}

/**
 * Reads the intents of a state file, the oldest first; none if there is no file. An incomplete last line is ignored, because
 * no response was sent for its change.
 * @throws {IntentError} `invalid_configuration` for a damaged file or a file of another program
 */
export function readStateFile(file: string): PersistedIntent[] {
  const text = existsSync(file) ? read(file) : '';
  if (text === '') return [];
  const [owner = '', ...lines] = text.split('\n');
  if (!isOwnerLine(owner)) throw problemOf(file, 'is not a file of the simulator', removeFix);
  const latest = new Map<string, Record<string, unknown>>();
  // The text after the last line break is empty or incomplete.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const change = parseLine(file, line, index);
    const id = String(change.intent ?? change.forgotten);
    if (change.forgotten === undefined) latest.set(id, change);
    else latest.delete(id);
  }
  return [...latest.values()].map((line) => {
    try {
      return fromLine(line);
    } catch (error) {
      throw problemOf(file, `is damaged: the intent ${String(line.intent)} cannot be read`, removeFix, error);
    }
  });
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw problemOf(file, `cannot be read (${String(readError(error).code)})`, accessFix, error);
  }
}

function parseLine(file: string, line: string, index: number): Record<string, unknown> {
  try {
    const change: unknown = JSON.parse(line);
    if (typeof change === 'object' && change !== null) return { ...change };
  } catch {
    // Reported below.
  }
  throw problemOf(file, `is damaged in line ${index + 2}`, removeFix);
}

const base64 = z.base64();
const intentLine = z.strictObject({
  intent: z.string(),
  createdAtMs: z.number(),
  /** The signed message with the id that the simulator assigned, serialized. */
  request: base64,
  messages: z.array(base64),
  scanned: z.boolean(),
  declined: z.boolean(),
  submitted: z.boolean(),
  reversed: z.boolean(),
  payer: base64.optional(),
  userId: base64.optional(),
  webhookUrl: z.url().optional(),
});

type IntentLine = z.infer<typeof intentLine>;

function toLine(intent: StoredIntent): IntentLine {
  const { payer, userId, webhookUrl } = intent;
  const [request = {}, ...messages] = intent.mailbox.requestAndUnacknowledged;
  return {
    intent: intent.id,
    createdAtMs: intent.createdAtMs,
    request: formatMessage(request),
    messages: messages.map(formatMessage),
    scanned: intent.scanned,
    declined: intent.declined,
    submitted: intent.submitted,
    reversed: intent.reversed,
    ...(payer && { payer: toBase64(payer) }),
    ...(userId && { userId: toBase64(userId) }),
    ...(webhookUrl && { webhookUrl: webhookUrl.href }),
  };
}

/** Reads an intent and verifies its signatures. @throws {Error} unless `toLine` made the line */
function fromLine(line: unknown): PersistedIntent {
  const { intent, createdAtMs, request: text, messages, payer, userId, webhookUrl, ...flags } = intentLine.parse(line);
  const request = parseMessage(text);
  const { id: _id, sendMessageRequestSignature, signedBytes: _bytes, ...unsigned } = request;
  const signature = sendMessageRequestSignature?.value ?? new Uint8Array();
  const signedBytes = extractSignedBytes(fromBase64(text));
  return {
    intent: verifyIntentMessage(new v1.Message(unsigned), parseIntentId(intent), signature, signedBytes),
    createdAtMs,
    progress: {
      ...flags,
      payer: payer === undefined ? undefined : fromBase64(payer),
      userId: userId === undefined ? undefined : fromBase64(userId),
      webhookUrl: webhookUrl === undefined ? undefined : new URL(webhookUrl),
    },
    mail: { request, messages: messages.map(parseMessage) },
  };
}

const formatLine = (line: object): string => `${JSON.stringify(line)}\n`;

const formatMessage = (message: MailboxMessage): string => toBase64(encode(v1.Message, toWireMessage(message)));
const parseMessage = (text: string): MailboxMessage => {
  const bytes = fromBase64(text);
  return withSignedBytes(decode(v1.Message, bytes), extractSignedBytes(bytes));
};
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

const removeFix = `To keep it, ${otherFileFix}. Otherwise remove it.`;
const accessFix = `Allow the user of this process to read and write it, or ${otherFileFix}.`;

const problemOf = (file: string, problem: string, fix: string, cause?: unknown): IntentError =>
  new IntentError('invalid_configuration', `The state file ${file} ${problem}. ${fix}`, { cause });
