import { spawnSync } from 'node:child_process';
import fs, { renameSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import { newOwner } from '../../../src/emulator/state/state-owner.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';

/** What another process does before this one renames its new file. */
let meanwhile = (): void => undefined;
jest.unstable_mockModule('node:fs', () => ({
  ...fs,
  renameSync: (from: string, to: string) => {
    meanwhile();
    renameSync(from, to);
  },
}));
const { readStateFile, StateFile } = await import('../../../src/emulator/state/state-file.js');

const url = 'http://127.0.0.1:4747';
let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder, 'state.jsonl');
});

/** Writes the file as the start of a sequencer in the process `pid`. */
function start(pid: number): void {
  const state = new StateFile(file, { ...newOwner(url), pid });
  state.write([], [], () => []);
  state.close();
}

test('two sequencers that start at the same time on one state file both write it completely', () => {
  const owners: unknown[] = [];
  const readOwner = (): void => void owners.push(JSON.parse(fs.readFileSync(file, 'utf8')).pid);
  meanwhile = () => {
    meanwhile = () => undefined;
    start(process.ppid);
    readOwner();
  };
  start(process.pid);
  readOwner();
  expect(owners).toEqual([process.ppid, process.pid]);
  expect(readStateFile(file)).toEqual([]);
  expect(fs.readdirSync(folder)).toEqual(['state.jsonl']);
});

test('a start removes the new file of a process that has ended, and keeps those of running processes', () => {
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const kept = [`other.jsonl.${ended}.new`, `state.jsonl.${process.ppid}.new`, 'state.jsonl.x.new'];
  for (const name of [...kept, `state.jsonl.${ended}.new`]) fs.writeFileSync(path.join(folder, name), '');
  start(process.pid);
  expect(fs.readdirSync(folder).sort()).toEqual([...kept, 'state.jsonl'].sort());
});
