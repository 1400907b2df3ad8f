import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
// Hooks run in the order of definition: programs end before the server.
import '../runner/child-program.js';

/** The Postgres server of this test file, on a Unix socket. */
export interface PostgresServer {
  /** The URL of a database, as in the configuration of a site. */
  url(database: string): string;
  /** The path of the socket, for a relay. */
  readonly socketPath: string;
  /** Runs SQL as superuser over a new connection. @returns the rows of the last statement */
  run(database: string, sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Creates a database, optionally as a copy of another. @returns its name */
  createDatabase(template?: string): Promise<string>;
  /** Stops all processes of the server with SIGSTOP. */
  pause(): void;
  resume(): void;
  /** Kills it with `kill -9`. */
  kill(): Promise<void>;
  /** Restarts it. */
  start(): Promise<void>;
}

let starting: Promise<RunningServer> | undefined;

/** The server of this test file. It starts at the first call, and ends with the file. */
export function startPostgres(): Promise<PostgresServer> {
  starting ??= RunningServer.start();
  return starting;
}

afterAll(async () => {
  await (await starting?.catch(() => undefined))?.end();
});

const supervisor = fileURLToPath(new URL('./postgres-process.mjs', import.meta.url));

class RunningServer implements PostgresServer {
  readonly socketPath: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #pid = 0;
  #databases = 0;

  private constructor(process: ChildProcess, answers: AsyncIterator<string>, folder: string) {
    this.#process = process;
    this.#answers = answers;
    this.#folder = folder;
    this.socketPath = path.join(folder, '.s.PGSQL.5432');
  }

  static async start(): Promise<RunningServer> {
    // The temporary folder belongs to this run.
    const template = path.join(tmpdir(), 'postgres');
    const child = spawn(process.execPath, [supervisor, JSON.stringify({ template })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { sockets } = await nextAnswer(answers);
    const server = new RunningServer(child, answers, String(sockets));
    await server.start();
    return server;
  }

  url(database: string): string {
    return `postgres://postgres@/${database}?host=${this.#folder}`;
  }

  async run(database: string, sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return [await client.query(sql, values && [...values])].flat().at(-1)?.rows ?? [];
    } finally {
      await client.end();
    }
  }

  async createDatabase(template = 'template0'): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.run('postgres', `create database ${name} template ${template} strategy file_copy`);
    return name;
  }

  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
    for (const pid of this.#children()) process.kill(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#children()) process.kill(pid, 'SIGCONT');
    process.kill(this.#pid, 'SIGCONT');
  }

  async kill(): Promise<void> {
    this.pause();
    for (const pid of this.#children()) process.kill(pid, 'SIGKILL');
    process.kill(this.#pid, 'SIGKILL');
    await this.#order('stop');
  }

  async start(): Promise<void> {
    this.#pid = Number((await this.#order('start')).pid);
  }

  async end(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }

  async #order(order: string): Promise<Record<string, unknown>> {
    this.#process.stdin?.write(`${order}\n`);
    return nextAnswer(this.#answers);
  }

  /** The children of the stopped main process. It starts no others, and each keeps its id after its end. */
  #children(): number[] {
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
    const pairs = table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([pid, parent]) => (pid !== undefined && parent === this.#pid ? [pid] : []));
  }
}

async function nextAnswer(answers: AsyncIterator<string>): Promise<Record<string, unknown>> {
  const { value, done } = await answers.next();
  if (done) throw new Error('Postgres could not be started; the reason stands above.');
  return JSON.parse(value);
}
