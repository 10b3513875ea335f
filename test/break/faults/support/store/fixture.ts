import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { insertAccount } from '../../../../../src/service/accounts/sql.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import { type Asking, Clients } from './clients.ts';
import { isOfLoop } from './loops.ts';
import type { FaultService } from './service.ts';

const STALLED_TURNS = 40;
const STEP_MS = 500;
const MAX_STEPS = 600;
/** An agent's lease is given up after this many steps without progress. */
const STEPS_OF_A_LEASE = 10;

/** One case's account, and its clients. */
export interface CaseFixture {
  readonly service: FaultService;
  readonly accountId: string;
  /** An admin key. */
  readonly key: string;
  readonly clients: Clients;
  /** Slots are counted from here; epoch milliseconds. */
  readonly startMs: number;
  /** Sends an idempotent request as a user, until it is answered. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** The same, with this expected status. */
  done(status: number, method: string, path: string, body?: unknown): Promise<Reply['json']>;
  /** Sends an idempotent request with the key of a location. */
  agentAsk(key: string, path: string, body: unknown): Promise<Reply>;
  /** The same for any request. */
  insist(asking: Asking): Promise<Reply>;
  /** Sends a request as a user once: null if nobody knows whether it was done. */
  tryOnce(method: string, path: string, body?: unknown): Promise<Reply | null>;
  /** All requests in it are one step of the workload: their number depends on the faults. */
  step<T>(work: () => Promise<T>): Promise<T>;
  /** A private location with a key. */
  location(slug: string): Promise<TestLocation>;
  /** Advances the clock step by step until the condition holds. */
  passUntil(what: string, condition: () => Promise<boolean>): Promise<void>;
  /** The real rows. */
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): Promise<void>;
}

export interface TestLocation {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

export async function openFixture(service: FaultService): Promise<CaseFixture> {
  const { store, faulty, clock } = service;
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: 'faults', createdAtMs: clock.wallMs() });
  const key = await insertAdminKey(service, accountId);
  const clients = new Clients(service);
  let isInStep = false;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isInStep) return work();
    faulty.nextStep();
    isInStep = true;
    try {
      return await work();
    } finally {
      isInStep = false;
    }
  };
  const insist = (asking: Asking): Promise<Reply> => step(() => clients.insist(asking, 'at once'));
  const asUser = (method: string, path: string, body: unknown): Asking => {
    return { method, path, key, ...(body === undefined ? {} : { body }) };
  };
  const ask: CaseFixture['ask'] = (method, path, body) =>
    step(() => clients.insist(asUser(method, path, body), 'when calm'));
  const done: CaseFixture['done'] = async (status, method, path, body) => {
    const reply = await ask(method, path, body);
    if (reply.status === status) return reply.json;
    throw new Error(`${method} ${path} was answered ${reply.status} ${reply.text}`);
  };
  return {
    service,
    accountId,
    key,
    clients,
    startMs: clock.wallMs(),
    ask,
    done,
    agentAsk: (agentKey, path, body) => insist({ method: 'POST', path, key: agentKey, body }),
    insist,
    tryOnce: (method, path, body) =>
      step(() => clients.once(asUser(method, path, body), 'when calm')),
    step,
    async location(slug) {
      const { id } = await done(201, 'POST', '/v1/private-locations', { slug, name: slug });
      const made = await done(201, 'POST', `/v1/private-locations/${id}/keys`);
      return { id, slug, key: made.key };
    },
    passUntil: (what, condition) =>
      step(async () => {
        for (let steps = 1; steps <= MAX_STEPS; steps += 1) {
          // An embedded database answers nobody else until the stalled call continues.
          await service.calm();
          if (await condition()) return;
          if (steps % STEPS_OF_A_LEASE === 0) await endLeases(service, accountId);
          await clock.advance(STEP_MS);
        }
        throw new Error(`it never came to this: ${what}`);
      }),
    rows: (sql) => store.query(sql, [accountId]),
    async close() {
      clients.close();
      await store.query('delete from accounts where id = $1', [accountId]);
    },
  };
}

/** Through the API, without faults. */
async function insertAdminKey(service: FaultService, accountId: string): Promise<string> {
  return (await service.features().apiKeys.create(accountId, { name: 'first', role: 'admin' })).key;
}

/** The database's time is real: ends lost claims instead of waiting for them. */
async function endLeases({ store }: FaultService, accountId: string): Promise<void> {
  for (const table of ['alert_deliveries', 'root_cause_analyses']) {
    await store.query(
      `update ${table} set lease_until = now() - interval '1 second'
       where account_id = $1 and lease_until > now()`,
      [accountId],
    );
  }
}

/**
 * For a stalled call: its waiters reach their time limit and retry. Releases the call when that is
 * answered, or when nothing else happens.
 */
export function stallOf({ service, clients }: CaseFixture): (release: () => void) => void {
  // The stalled transaction does not belong to its waiter.
  const outside = new AsyncResource('stall');
  return (release) => {
    if (!isOfLoop()) clients.giveUp();
    outside.runInAsyncScope(() => void releaseInTime(service, clients).finally(release));
  };
}

async function releaseInTime({ faulty, turn }: FaultService, clients: Clients): Promise<void> {
  const before = clients.answered;
  let seen = faulty.steps;
  for (let turns = 0; turns < STALLED_TURNS && clients.answered === before; turns += 1) {
    await turn();
    if (faulty.steps !== seen) turns = 0;
    seen = faulty.steps;
  }
}
