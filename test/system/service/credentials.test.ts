import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createSecretBox, KEY_BYTES } from '../../../src/runtime/secret-box.ts';
import { createCheckVariables } from '../../../src/service/checks/variables/check-variables.ts';
import { openStore } from '../../../src/service/database/open-store.ts';
import type { Store } from '../../../src/service/database/store.ts';
import { runCli } from '../../support/agent/cli.ts';
import { newPostgresDatabase, silentLog, storeConfig } from '../../support/database/databases.ts';
import { sealingReplica } from '../../support/service/sealing-replica.ts';

const REQUEST = { url: 'https://user:correct-horse@shop.test/' };
const [OLD, NEW] = [randomBytes(KEY_BYTES), randomBytes(KEY_BYTES)];
const KEY = { accountId: 'mine', id: 'shop' };
const ENOUGH_WAITS = 20;
let databaseUrl = '';

beforeEach(async () => {
  databaseUrl = await newPostgresDatabase('migrated');
});

/** A prefix in the names of connections. */
function fingerprint(key: Buffer): string {
  return createSecretBox([key]).keyNames[0]?.slice(0, 8) ?? '';
}

/** A replica with these keys, and how it stores a credential. */
async function replica(...keys: readonly Buffer[]) {
  const [first, ...others] = keys;
  const secrets = first === undefined ? null : createSecretBox([first, ...others]);
  const store = await openStore(
    storeConfig({ databaseUrl, poolSize: 1, keyNames: secrets?.keyNames ?? [] }),
    {
      clock: systemClock,
      log: silentLog(),
    },
  );
  onTestFinished(() => store.close());
  const sealing = sealingReplica(store, secrets);
  const variables = createCheckVariables({
    log: silentLog(),
    secrets,
    sealsCredentials: sealing.isOn,
  });
  return {
    ...sealing,
    store,
    async end(): Promise<void> {
      const [found] = await store.query<{ pid: number }>('select pg_backend_pid() as pid');
      await store.close();
      await untilForgotten(found?.pid ?? 0);
    },
    /** The request in the agents' form. */
    async assigned(): Promise<unknown> {
      const { body, sealed } = await row(store);
      return variables.open(KEY, body, sealed).request;
    },
    /** The key that encrypts a new credential; null for plain text. */
    keyOfNew(): Buffer | null {
      const check = { id: 'new', request: REQUEST, variables: [] };
      const { sealedVariables } = variables.seal('mine', check as never);
      if (sealedVariables === null) return null;
      return keys.find((key) => createSecretBox([key]).hasKeyOf(sealedVariables)) ?? null;
    },
  };
}

async function row(store: Store) {
  const [found] = await store.query<{ body: Record<string, unknown>; sealed: Buffer | null }>(
    'select body, sealed_variables as sealed from checks',
  );
  if (found === undefined) throw new Error('the check is there');
  return found;
}

async function putInClear(store: Store): Promise<void> {
  await store.query(`insert into accounts (id, name) values ('mine', 'Mine')`);
  await store.query(
    `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
     values ('mine', 'shop', 'URL', 'Shop', true, false, 10, $1::jsonb)`,
    [{ request: REQUEST }],
  );
}

/** A session that has ended stays visible for a moment. */
async function untilForgotten(pid: number): Promise<void> {
  const other = new Client({ connectionString: databaseUrl, application_name: 'test' });
  await other.connect();
  // It waits for the end of the process, for 10 s at most, and warns if it has already ended.
  await other.query('select pg_terminate_backend($1, 10000)', [pid]);
  const { rows } = await other.query('select from pg_stat_activity where pid = $1', [pid]);
  await other.end();
  expect(rows).toEqual([]);
}

/**
 * Opens a session with this name. Returns a function that ends it, and waits until PostgreSQL has
 * forgotten it.
 */
async function session(name: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: databaseUrl, application_name: name });
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  let isOpen = true;
  const end = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await client.end();
    await untilForgotten(rows[0].pid);
  };
  onTestFinished(end);
  return end;
}

describe('credentials in a database that several replicas share', () => {
  it.each([
    ['of the previous release', 'vedette'],
    ['of a release that reads no encrypted user names', `vedette/2 ${fingerprint(NEW)}`],
    ['of this release without a key', 'vedette/3'],
    ['with another key', 'vedette/3 00000000'],
  ])('stay unencrypted while a replica %s is connected, and for two looks', async (_, name) => {
    const one = await replica(NEW);
    await putInClear(one.store);
    const endBefore = await session(name);
    await one.begin();
    await one.keep(3);
    expect(one.isOn()).toBe(false);
    expect(one.keyOfNew()).toBeNull();
    expect(await one.assigned()).toEqual(REQUEST);
    expect((await row(one.store)).sealed).toBeNull();
    expect(one.logs.records()).toMatchObject([
      {
        level: 'warn',
        replicas: [{ name, address: '127.0.0.1' }],
        msg: expect.stringContaining('stored unencrypted'),
      },
    ]);
    // It may be alone only for an instant.
    await endBefore();
    await one.keep(1);
    const endAgain = await session(name);
    await one.keep(1);
    await endAgain();
    await one.keep(1);
    expect(one.isOn()).toBe(false);
    await one.keep(1);
    expect(one.isOn()).toBe(true);
    expect(await one.assigned()).toEqual(REQUEST);
    expect((await row(one.store)).sealed).not.toBeNull();
  });

  it('credentials that a replica of the previous release stores unencrypted are encrypted without a restart', async () => {
    const one = await replica(NEW);
    await one.begin();
    const waitsMs: number[] = [];
    let wasClear = false;
    await one.keep(3, new AbortController(), async (delayMs) => {
      waitsMs.push(delayMs);
      // Even when everything from before is encrypted.
      if (waitsMs.length !== 3) return;
      await putInClear(one.store);
      wasClear = (await row(one.store)).sealed === null;
    });
    const [first, second, third = 0] = waitsMs;
    expect([first, second]).toEqual([5000, 5000]);
    // This does not happen when all replicas start together.
    expect(third).toBeGreaterThanOrEqual(300_000);
    expect(third).toBeLessThanOrEqual(600_000);
    expect(wasClear).toBe(true);
    const { body, sealed } = await row(one.store);
    expect(sealed).not.toBeNull();
    expect(JSON.stringify(body)).not.toContain('correct-horse');
    expect(await one.assigned()).toEqual(REQUEST);
  });

  it('the next rewrites read the checks that changed since, and once a day all of them', async () => {
    const one = await replica(NEW);
    await one.begin();
    const encryptedAt: number[] = [];
    let waits = 0;
    let waitedMs = 0;
    await one.keep(500, new AbortController(), async (delayMs) => {
      waits += 1;
      waitedMs += delayMs;
      if (waits === 3) {
        await putInClear(one.store);
        // A row that no request leaves: its clock was far behind.
        await one.store.query(`update checks set created_at = '2000-01-01', updated_at = null`);
      } else if (waits > 3 && encryptedAt.length === 0) {
        if ((await row(one.store)).sealed !== null) encryptedAt.push(waitedMs - delayMs);
      }
    });
    const [atMs = 0] = encryptedAt;
    expect(atMs).toBeGreaterThanOrEqual(24 * 3_600_000);
    expect(atMs).toBeLessThan(25 * 3_600_000);
  });

  it('every replica can read the credentials while the first key is rolled out', async () => {
    const [one, other] = [await replica(NEW), await replica()];
    await putInClear(one.store);
    await one.start();
    await one.keep(3);
    expect(await other.assigned()).toEqual(REQUEST);
    await other.end();
    const restarted = await replica(NEW);
    await restarted.begin();
    await Promise.all([one.keep(ENOUGH_WAITS), restarted.keep(ENOUGH_WAITS)]);
    expect([one.isOn(), restarted.isOn()]).toEqual([true, true]);
    expect((await row(one.store)).sealed).not.toBeNull();
    expect(await one.assigned()).toEqual(REQUEST);
    expect(await restarted.assigned()).toEqual(REQUEST);
  });

  it('every replica can read the credentials while a new key is rolled out in one step', async () => {
    const [before, other] = [await replica(OLD), await replica(OLD)];
    await putInClear(before.store);
    await before.start();
    await before.keep(ENOUGH_WAITS);
    expect((await row(before.store)).sealed).not.toBeNull();
    await before.end();

    const one = await replica(NEW, OLD);
    await one.begin();
    // At once: all replicas could read it in this form.
    expect(one.keyOfNew()).toEqual(OLD);
    await one.keep(3);
    expect(one.keyOfNew()).toEqual(OLD);
    expect(await other.assigned()).toEqual(REQUEST);
    expect(one.logs.records()).toMatchObject([
      { level: 'warn', msg: expect.stringContaining('encrypted by an older key') },
    ]);
    await other.end();
    await one.keep(ENOUGH_WAITS);
    expect(one.keyOfNew()).toEqual(NEW);
    const next = await replica(NEW);
    expect(await next.assigned()).toEqual(REQUEST);
    // It sees at once that the key is in use.
    await next.begin();
    expect(next.isOn()).toBe(true);
  });

  it('decrypt refuses to run beside a replica, which would encrypt the credentials again', async () => {
    const one = await replica(NEW);
    await putInClear(one.store);
    await one.start();
    await one.keep(ENOUGH_WAITS);
    const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: NEW.toString('hex') };
    const refused = await runCli(['service', 'decrypt'], env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^vedette: a replica of the service is connected [^\n]*\n$/m);
    expect((await row(one.store)).sealed).not.toBeNull();
    await one.end();
    const keyless = await runCli(['service', 'decrypt'], { DATABASE_URL: databaseUrl });
    expect(keyless).toMatchObject({ code: 2, stdout: '' });
    expect(keyless.stderr).toMatch(
      /^vedette: credentials of 1 check or location cannot be decrypted because ENCRYPTION_KEY is not set: [^\n]*\n$/m,
    );
    expect(await runCli(['service', 'decrypt'], env)).toMatchObject({
      code: 0,
      stdout: 'stored unencrypted again: the credentials of 1 check or location\n',
    });
  });
});
