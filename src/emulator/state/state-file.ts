import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { IntentError } from '../../errors.js';
import { readError } from '../outbound/read-error.js';
import type { IntentArchive, IntentRecord, KeptIntent } from './intent-store.js';
import { restoreIntent, saveIntent } from './saved-intent.js';
import { formatOwner, isOwnerLine, type StateOwner } from './state-owner.js';

/** Bytes that are appended at most before the file is written anew with what still counts. */
const growth = 8 * 1024 * 1024;

/**
 * The file that intents outlive the process in: lines of JSON, the first of which says whose it is. Each of the others is
 * an intent with all that has become of it, or one that was forgotten, and the last one on an intent counts. It is written
 * anew at every start, and appended to in one go with every change. That survives the death of the process at any
 * moment, and not a loss of power.
 */
export class StateFile implements IntentArchive {
  readonly #file: string;
  readonly #owner: StateOwner;
  #descriptor: number | undefined;
  #appended = 0;
  #isClosed = false;

  constructor(file: string, owner: StateOwner) {
    this.#file = file;
    this.#owner = owner;
  }

  write(changed: readonly IntentRecord[], forgotten: readonly string[], all: () => Iterable<IntentRecord>): void {
    if (this.#isClosed) throw problemOf(this.#file, 'is closed: the sequencer has ended');
    try {
      const isAppendable = this.#appended <= growth && !this.#isGone();
      if (this.#descriptor === undefined || !isAppendable) this.#writeAnew(all());
      else this.#append(this.#descriptor, [...changed.map(saveIntent), ...forgotten.map((id) => ({ forgotten: id }))]);
    } catch (error) {
      // Half a line may stand at the end now: the next time all is written anew.
      this.#release();
      if (error instanceof IntentError) throw error;
      throw problemOf(this.#file, `cannot be written (${String(readError(error).code)})`, error);
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
    const text = lines.map(lineOf).join('');
    appendFileSync(descriptor, text);
    this.#appended += text.length;
  }

  /** Under another name first, so that there is a whole file at any moment. */
  #writeAnew(records: Iterable<IntentRecord>): void {
    this.#release();
    const fresh = `${this.#file}.new`;
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const lines = [...records].map((record) => lineOf(saveIntent(record)));
    writeFileSync(fresh, [formatOwner(this.#owner), ...lines].join(''), { mode: 0o600 });
    this.#descriptor = openSync(fresh, 'a');
    renameSync(fresh, this.#file);
    this.#appended = 0;
  }

  /** Whether the file was removed, in order to begin anew. @throws {IntentError} where somebody has put another in its place */
  #isGone(): boolean {
    if (this.#descriptor === undefined || fstatSync(this.#descriptor).nlink > 0) return false;
    if (!existsSync(this.#file)) return true;
    throw problemOf(this.#file, 'was taken over by another sequencer, or was replaced');
  }
}

/**
 * The intents of a state file, the oldest first; none where there is no such file. A last line that was not written to its
 * end is left out: nobody was answered what stands in it.
 * @throws {IntentError} `invalid_configuration` for a file that is none of the sequencer's, or damaged
 */
export function readStateFile(file: string): KeptIntent[] {
  const text = existsSync(file) ? read(file) : '';
  if (text === '') return [];
  const [owner = '', ...lines] = text.split('\n');
  if (!isOwnerLine(owner)) throw problemOf(file, 'is none of the embedded sequencer');
  const latest = new Map<string, Record<string, unknown>>();
  // What stands behind the last end of a line is nothing, or torn.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const change = parse(file, line, index);
    const id = String(change.intent ?? change.forgotten);
    if (change.forgotten === undefined) latest.set(id, change);
    else latest.delete(id);
  }
  return [...latest.values()].map((line) => {
    try {
      return restoreIntent(line);
    } catch (error) {
      throw problemOf(file, `is damaged: it has an intent that cannot be read, ${String(line.intent)}`, error);
    }
  });
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw problemOf(file, `cannot be read (${String(readError(error).code)})`, error);
  }
}

function parse(file: string, line: string, index: number): Record<string, unknown> {
  try {
    const change: unknown = JSON.parse(line);
    if (typeof change === 'object' && change !== null) return { ...change };
  } catch {
    // Told below.
  }
  throw problemOf(file, `is damaged in line ${index + 2}`);
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`;

const mend = 'Remove it to begin anew, or name another one: INTENT_EMULATOR_STATE, or stateFile.';

const problemOf = (file: string, problem: string, cause?: unknown): IntentError =>
  new IntentError('invalid_configuration', `The state file ${file} ${problem}. ${mend}`, { cause });
