import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { inspect } from 'node:util';
import { inject, onTestFailed, onTestFinished, TestRunner } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Row, Store } from '../../../src/service/database/store.ts';
import { newDatabase } from '../database/new-database.ts';
import { silentLog, storeConfig } from '../database/silent-store.ts';
import { COMPILED_PROGRAM } from '../process/compiled-program.ts';
import { makeTestFolder } from '../process/test-folder.ts';
import { type Ask, askService, type Reply } from './service-app.ts';

/** For services on a new database: on PostgreSQL they make no key themselves. */
const ENCRYPTION_KEY = randomBytes(32).toString('hex');
/** The part of each process's log that a failed test prints. */
const SHOWN_LOG_LINES = 40;
const SHOWN_ANSWER_CHARS = 1_000;

/** A process of the compiled product. It is killed with the test. */
export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  /** Its log so far. */
  readonly log: () => string;
  /**
   * Resolves with the log as soon as it matches, from character `from` on; rejects if the process
   * ends.
   */
  logged(pattern: RegExp, from?: number): Promise<string>;
  /** Ends it and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A command prefix: `['ip', 'netns', 'exec', 'agent-a']`. */
  readonly prefix?: readonly string[];
  /** A file for its stdout; discarded by default. */
  readonly stdoutFile?: string;
  /** Takes what ends the process, if it serves several tests. By default it is killed with the test. */
  readonly atEnd?: (end: () => Promise<void>) => void;
}

export function startProcess(args: readonly string[], options: StartOptions = {}): Running {
  const [command = '', ...rest] = [...(options.prefix ?? []), ...COMPILED_PROGRAM, ...args];
  const { stdoutFile } = options;
  const stdout = stdoutFile === undefined ? 'ignore' : openSync(stdoutFile, 'a');
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  if (stdout !== 'ignore') closeSync(stdout);
  let text = '';
  const looks = new Set<() => void>();
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of [...looks]) look();
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  if (options.atEnd !== undefined) options.atEnd(end);
  else {
    onTestFinished(end);
    onTestFailed(() => {
      const last = text.trimEnd().split('\n').slice(-SHOWN_LOG_LINES).join('\n');
      console.info(`${args.join(' ')} (process ${child.pid}) had logged at last:\n${last}`);
    });
  }
  return {
    child,
    pid: child.pid ?? 0,
    ended,
    log: () => text,
    logged: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(text.slice(from))) return;
          looks.delete(look);
          resolve(text.slice(from));
        };
        looks.add(look);
        void ended.then(() =>
          reject(new Error(`it ended before its log matched ${pattern}: ${text}`)),
        );
        look();
      }),
    async kill(signal) {
      child.kill(signal);
      return await ended;
    },
  };
}

/** A private location with a key for its agents. */
export interface TestLocation {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

/** A service process, with a client of its first admin. */
export interface RunningService extends Running {
  readonly port: number;
  readonly url: string;
  readonly apiKey: string;
  ask(path: string, ask?: Ask): Promise<Reply>;
  addLocation(slug: string): Promise<TestLocation>;
  /** @returns the check's id. @param type url, api, tcp, dns or icmp */
  addCheck(type: string, body: Readonly<Record<string, unknown>>): Promise<string>;
}

export interface ServiceOptions extends StartOptions {
  /**
   * One of the two; by default a new database with the schema of this release: on PostgreSQL where
   * the test project has it, since a service starts there in half the CPU time.
   */
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  /** Any free port by default. */
  readonly port?: number;
  /** Where the test reaches it, if its port is in a network namespace. */
  readonly entryPort?: number;
  /** By default a new one; pass the same one for a restart or for another replica. */
  readonly apiKey?: string;
}

export function newApiKey(): string {
  return `vk_${randomBytes(16).toString('hex')}`;
}

/** Resolves when it answers requests. Its leases last 3 s by default. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const { port = 0, apiKey = newApiKey(), prefix = [] } = options;
  const isGiven = options.dataDir !== undefined || options.databaseUrl !== undefined;
  // Projects without PostgreSQL provide nothing, and null is provided where it is not installed.
  const kind = (inject('postgres') ?? null) === null ? 'pglite' : 'postgres';
  const { dataDir, databaseUrl }: ServiceOptions = isGiven
    ? options
    : await newDatabase(kind, options.atEnd);
  const running = startProcess(['service'], {
    prefix,
    ...(options.atEnd === undefined ? {} : { atEnd: options.atEnd }),
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      LEASE_SECONDS: '3',
      RATE_LIMIT_PER_MINUTE: '1000000',
      FIRST_API_KEY: apiKey,
      // Also with PostgreSQL, for artifacts: a killed process leaves a temporary folder.
      DATA_DIR: dataDir ?? makeTestFolder(options.atEnd),
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...(isGiven ? {} : { ENCRYPTION_KEY }),
      ...options.env,
    },
  });
  const log = await running.logged(/"port":\d+.*the API is served/);
  const served = options.entryPort ?? Number(/"port":(\d+)[^\n]*the API is served/.exec(log)?.[1]);
  const ask = (path: string, more: Ask = {}): Promise<Reply> =>
    askService(served, path, { key: apiKey, ...more });
  const post = async (path: string, body?: unknown): Promise<Reply> => {
    const reply = await ask(path, { method: 'POST', body });
    if (reply.status !== 201) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  return {
    ...running,
    port: served,
    url: `http://127.0.0.1:${served}`,
    apiKey,
    ask,
    async addLocation(slug) {
      const { json } = await post('/v1/private-locations', { slug, name: slug });
      const made = await post(`/v1/private-locations/${json.id}/keys`);
      return { id: json.id, slug, key: made.json.key };
    },
    async addCheck(type, body) {
      return (await post(`/v1/checks/${type}`, body)).json.id;
    },
  };
}

export interface RunningAgent extends Running {
  readonly healthPort: number;
  health(): Promise<Reply>;
}

export interface AgentOptions extends StartOptions {
  readonly serviceUrl: string;
  readonly key: string;
  /** None by default. */
  readonly dataDir?: string;
}

/** Resolves when its health endpoint answers. With a `stdoutFile` it prints its results as well. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { env: _, ...rest } = options;
  const prints = options.stdoutFile !== undefined;
  const running = startProcess(prints ? ['agent', '--print-results'] : ['agent'], {
    ...rest,
    env: {
      SERVICE_URL: options.serviceUrl,
      API_KEY: options.key,
      AGENT_HEALTH_PORT: '0',
      ...(options.dataDir === undefined ? {} : { DATA_DIR: options.dataDir }),
      ...options.env,
    },
  });
  const log = await running.logged(/"port":\d+.*health and metrics are served/);
  const healthPort = Number(/"port":(\d+)/.exec(log)?.[1]);
  return {
    ...running,
    healthPort,
    health: () => askService(healthPort, '/health', { key: null }),
  };
}

/** The rows of the database; on PGlite only after the end of the service. */
export async function readDatabase(
  where: { readonly dataDir: string } | { readonly databaseUrl: string },
  sql: string,
  params: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return withDatabase(where, (store) => store.query(sql, params));
}

/** For data that the API does not show. */
export async function withDatabase<Result>(
  where: Parameters<typeof readDatabase>[0],
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const config = storeConfig({ databaseUrl: null, dataDir: null, ...where });
  const store = await openStore(config, { clock: systemClock, log: silentLog() });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Polls, at most every 50 ms, until the answer is as wanted, and returns it. If the test's time limit
 * ends first, its error shows the latest answer, and the polling ends.
 */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  const { stack } = new Error('until was called here');
  const signal = TestRunner.getCurrentTest()?.context.signal;
  let shown = 'no answer so far';
  const explain = (): void => {
    if (!(signal?.reason instanceof Error)) return;
    signal.reason.message = `${signal.reason.message.split('\n')[0]} Still not as wanted: ${shown}`;
    signal.reason.stack = `Error: ${signal.reason.message}\n${stack}`;
  };
  signal?.addEventListener('abort', explain);
  try {
    for (;;) {
      const answer = await ask();
      if (wanted(answer)) return answer;
      shown = inspect(answer, { depth: 4, breakLength: Infinity }).slice(0, SHOWN_ANSWER_CHARS);
      signal?.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    signal?.removeEventListener('abort', explain);
  }
}

/** A key may list results 60 times a minute. */
const LIST_EVERY_MS = 1_050;

/**
 * Resolves with the list of a check's results, newest first, when it has at least `count` of them.
 * @param query `?resultType=FINAL`, for example
 */
export async function untilResults(
  ask: (path: string) => Promise<Reply>,
  checkId: string,
  { count = 1, query = '' } = {},
): Promise<Reply> {
  for (;;) {
    const reply = await ask(`/v1/check-results/${checkId}${query}`);
    if (reply.status !== 200) throw new Error(`list of results: ${reply.status} ${reply.text}`);
    if (reply.json.length >= count) return reply;
    await new Promise((resolve) => setTimeout(resolve, LIST_EVERY_MS));
  }
}

/**
 * Slots that a location ran or missed, by check, from the database. Times in epoch milliseconds.
 */
export interface SlotRecord {
  readonly checkId: string;
  readonly slotMs: number;
  readonly kind: 'FINAL' | 'missed';
}

/** Every FINAL and every slot of the missed records, one record each. */
export async function slotRecords(
  where: Parameters<typeof readDatabase>[0],
): Promise<readonly SlotRecord[]> {
  const finals = await readDatabase(
    where,
    `select check_id, extract(epoch from slot) * 1000 as ms from check_results where result_type = 'FINAL'`,
  );
  const missed = await readDatabase(
    where,
    'select check_id, slot, last_slot, count from missed_slots',
  );
  return [
    ...finals.map((row) => ({
      checkId: String(row.checkId),
      slotMs: Math.round(Number(row.ms)),
      kind: 'FINAL' as const,
    })),
    ...missed.flatMap((row) => slotsOf(row)),
  ];
}

function slotsOf(row: Row): readonly SlotRecord[] {
  const first = (row.slot as Date).getTime();
  const last = (row.lastSlot as Date).getTime();
  const count = Number(row.count);
  const stepMs = count > 1 ? (last - first) / (count - 1) : 0;
  return Array.from({ length: count }, (_, index) => ({
    checkId: String(row.checkId),
    slotMs: Math.round(first + index * stepMs),
    kind: 'missed' as const,
  }));
}
