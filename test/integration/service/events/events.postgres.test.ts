import { randomUUID } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import { openStore } from '../../../../src/service/database/open-store.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { deleteEventsBefore } from '../../../../src/service/events/sql.ts';
import type { Features } from '../../../../src/service/feature-types.ts';
import { insertSnippet } from '../../../../src/service/snippets/sql.ts';
import {
  databases,
  newPostgresDatabase,
  openMigratedStore,
  openOnPostgres,
  silentLog,
  storeConfig,
} from '../../../support/database/databases.ts';
import { startPgBouncer } from '../../../support/database/pgbouncer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { until } from '../../../support/service/deployment.ts';
import {
  type Ask,
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../support/service/service-app.ts';
import { testFeatures } from '../../../support/service/service-features.ts';
import { openBrowser } from '../../../support/users/browser.ts';

interface Received {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly kind: string; readonly resourceId: string; readonly data: unknown };
}

interface Replica {
  readonly store: Store;
  readonly features: Features;
  readonly app: ServiceApp;
  readonly stopping: AbortController;
  close(): Promise<void>;
}

async function startReplica(store: Store, clock: Clock = systemClock): Promise<Replica> {
  const stopping = new AbortController();
  const work = new AbortController();
  const { features, close } = await testFeatures(store, clock);
  const app = await startServiceApp(apiRoutes(features, stopping.signal), {
    store,
    sessions: features.sessions.cache,
    serviceAddress: features.serviceAddress,
    authenticator: features.apiKeys,
    locationKeys: features.locationKeys,
    config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
  });
  const working = features.events.maintain(work.signal);
  return {
    store,
    features,
    app,
    stopping,
    async close() {
      stopping.abort();
      await app.close();
      work.abort();
      await working;
      await close();
    },
  };
}

/** A client that follows events, as a browser's EventSource does. */
class EventClient {
  readonly received: Received[] = [];
  /** Comments, which keep the connection open. */
  heartbeats = 0;
  lastId = '';
  readonly #response: IncomingMessage;
  #text = '';
  #changed = (): void => {};

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('error', () => {});
    response.on('close', () => this.#changed());
  }

  static async open(
    { app }: Replica,
    /** null: the headers have a cookie instead. */
    key: string | null,
    { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
  ): Promise<EventClient> {
    const sent = request({
      host: '127.0.0.1',
      port: app.port,
      path: `/v1/events${query}`,
      agent: new Agent({ keepAlive: false }),
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        accept: 'text/event-stream',
        ...headers,
      },
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
    const client = new EventClient(response);
    await client.#until(() => client.lastId !== '');
    return client;
  }

  /** The first `count` events, or fewer if the stream ends before. */
  async first(count: number): Promise<readonly string[]> {
    await this.#until(() => this.received.length >= count || this.isEnded);
    return this.received.map(({ event, data }) => `${event} ${data.resourceId}`);
  }

  /** Waits for a heartbeat after the given number, or the end of the stream. */
  async heartbeatAfter(count: number): Promise<void> {
    await this.#until(() => this.heartbeats > count || this.isEnded);
  }

  /** Stops reading, like a client that is busy. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  get isEnded(): boolean {
    return this.#response.closed;
  }

  async ended(): Promise<void> {
    await this.#until(() => this.isEnded);
  }

  async close(): Promise<void> {
    this.#response.destroy();
    await this.ended();
  }

  async #until(isReady: () => boolean): Promise<void> {
    while (!isReady()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  #read(text: string): void {
    this.#text += text;
    const parts = this.#text.split('\n\n');
    this.#text = parts.pop() ?? '';
    for (const part of parts) {
      if (part === ':') this.heartbeats += 1;
      const fields = Object.fromEntries(
        part.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
      );
      if (fields.id !== undefined) this.lastId = fields.id;
      if (fields.data === undefined) continue;
      this.received.push({ id: fields.id, event: fields.event, data: JSON.parse(fields.data) });
    }
    this.#changed();
  }
}

describe.each(databases)('the events of an account on %s', (kind) => {
  let replicas: readonly Replica[] = [];
  let stores: readonly Store[] = [];
  let accountId = '';
  let key = '';

  beforeAll(async () => {
    if (kind === 'postgres') {
      const url = await newPostgresDatabase('migrated');
      stores = [await openOnPostgres(url), await openOnPostgres(url)];
    } else {
      const store = await openMigratedStore(kind);
      stores = [store, store];
    }
  });
  afterAll(async () => {
    for (const store of new Set(stores)) await store.close();
  });
  beforeEach(async () => {
    replicas = await Promise.all(stores.map((store) => startReplica(store)));
    accountId = randomUUID();
    await insertAccount(first().store, { id: accountId, name: 'mine', createdAtMs: 0 });
    ({ key } = await first().features.apiKeys.create(accountId, { name: 'a', role: 'admin' }));
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const first = (): Replica => replicas[0] as Replica;
  const second = (): Replica => replicas[1] as Replica;
  const ask = (path: string, more: Ask = {}): Promise<Reply> =>
    first().app.ask(path, { key, ...more });
  /**
   * Opens a stream of only what follows: one without a cursor begins below the oldest open
   * transaction of the server, which other test files use, too.
   */
  const openFromNow = async (replica: Replica): Promise<EventClient> => {
    const { store } = replica;
    const [{ xid = '' } = {}] = await store.query<{ xid: string }>(
      'select pg_current_xact_id()::text as xid',
    );
    await until(
      () =>
        store.query('select list_horizon() as horizon where list_horizon() > $1::bigint', [xid]),
      (rows) => rows.length > 0,
    );
    return EventClient.open(replica, key);
  };
  const addLocation = async (slug: string): Promise<string> => {
    const made = await ask('/v1/private-locations', {
      method: 'POST',
      body: { name: slug, slug },
    });
    expect(made.status, made.text).toBe(201);
    return made.json.id;
  };

  it('reach clients of every replica, whichever of them made the change', async () => {
    const clients = [await EventClient.open(first(), key), await EventClient.open(second(), key)];
    const id = await addLocation('berlin');
    await ask(`/v1/private-locations/${id}`, { method: 'PATCH', body: { name: 'Berlin' } });
    const check = { request: { url: 'https://a.test/' }, name: 'A', privateLocations: ['berlin'] };
    await ask('/v1/checks/url/shop', { method: 'PUT', body: check });
    await ask('/v1/checks/url/shop', { method: 'PATCH', body: { muted: true } });
    await ask('/v1/checks/url/shop', { method: 'DELETE' });
    for (const client of clients) {
      expect(await client.first(5)).toEqual([
        `location.created ${id}`,
        `location.updated ${id}`,
        'check.created shop',
        'check.updated shop',
        'check.deleted shop',
      ]);
      await client.close();
    }
  });

  /** Each kind of resource with its path, a body and a change. */
  const RESOURCES: readonly (readonly [
    kind: string,
    path: string,
    body: object,
    change: object,
  ])[] = [
    ['group', '/v1/check-groups', { name: 'Shop' }, { activated: false }],
    [
      'alert_channel',
      '/v1/alert-channels',
      { type: 'EMAIL', config: { address: 'ops@shop.test' } },
      { sendDegraded: true },
    ],
    [
      'maintenance_window',
      '/v1/maintenance-windows',
      {
        name: 'Night',
        startsAt: '2100-01-01T00:00:00Z',
        endsAt: '2100-01-01T01:00:00Z',
        repeatUnit: 'DAY',
      },
      { name: 'Day' },
    ],
    ['status_page_service', '/v1/status-pages/services', { name: 'Shop' }, { name: 'Store' }],
    [
      'status_page',
      '/v1/status-pages',
      { name: 'Shop', url: `p-${randomUUID()}` },
      { name: 'Store' },
    ],
  ];

  it.each(RESOURCES)(
    'of a %s tell clients of another replica that it was created, changed and deleted',
    async (name, path, body, change) => {
      const client = await EventClient.open(second(), key);
      const created = await ask(path, { method: 'POST', body });
      expect(created.status, created.text).toBe(201);
      const at = String(created.headers.location);
      expect((await ask(at, { method: 'PATCH', body: change })).status).toBe(200);
      expect((await ask(at, { method: 'DELETE' })).status).toBe(204);
      const { id } = created.json;
      expect(await client.first(3)).toEqual([
        `${name}.created ${id}`,
        `${name}.updated ${id}`,
        `${name}.deleted ${id}`,
      ]);
      await client.close();
    },
  );

  it('report that a location is silent and polls again, but not that the silence of a deleted one ends', async () => {
    const { store } = first();
    const client = await EventClient.open(second(), key);
    const [id, other] = [await addLocation('berlin'), await addLocation('oslo')];
    await store.query(
      `insert into silent_locations (location_id, account_id, since, covered_until)
       select id, account_id, '2026-01-31T12:00:00Z', now() from private_locations
       where account_id = $1 order by slug`,
      [accountId],
    );
    await store.query('delete from silent_locations where location_id = $1', [id]);
    await ask(`/v1/private-locations/${other}`, { method: 'DELETE' });
    expect((await client.first(6)).slice(2)).toEqual([
      `location.silent ${id}`,
      `location.silent ${other}`,
      `location.recovered ${id}`,
      `location.deleted ${other}`,
    ]);
    expect(client.received[2]?.data.data).toEqual({ since: '2026-01-31T12:00:00.000Z' });
    await client.close();
  });

  it('report that an agent of a location begins and ceases to poll, but not that it polls on', async () => {
    const { store } = first();
    const id = await addLocation('berlin');
    const client = await openFromNow(second());
    const set = (until: string): Promise<unknown> =>
      store.query(
        `insert into agents (account_id, location_id, id, instance_id, version, capabilities,
           concurrency, running, queued, refused, epoch, lease_until)
         values ($1, $2, 'one', 'process', '1', '{}', 1, 0, 0, '[]', 1, ${until})
         on conflict (location_id, id) do update set lease_until = excluded.lease_until`,
        [accountId, id],
      );
    await set(`now() + interval '15 seconds'`);
    await set(`now() + interval '20 seconds'`);
    await set('null');
    await set('null');
    await ask(`/v1/private-locations/${id}`, { method: 'DELETE' });
    expect(await client.first(3)).toEqual([
      `location.agent_online ${id}`,
      `location.agent_offline ${id}`,
      `location.deleted ${id}`,
    ]);
    expect(client.received[0]?.data.data).toEqual({ agentId: 'one' });
    await client.close();
  });

  it('report that a requested run is finished, and nothing of retries', async () => {
    const { store } = first();
    const id = await addLocation('berlin');
    const client = await openFromNow(second());
    for (const [run, reason] of [
      ['asked', 'requested'],
      ['again', 'retry'],
      ['late', 'requested'],
      ['ended', 'requested'],
    ]) {
      await store.query(
        `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot, sequence_id, not_after)
         values ($1, $2, $3, 'shop', $4, now(), $1, now())`,
        [run, accountId, id, reason],
      );
    }
    const put = (state: string, run: string) =>
      store.query('update one_off_runs set state = $1 where id = $2', [state, run]);
    await put('assigned', 'asked');
    await put('done', 'again');
    await put('done', 'asked');
    await put('expired', 'late');
    await store.query("update one_off_runs set cancelled_at = now() where id = 'ended'");
    await put('expired', 'ended');
    await put('done', 'ended');
    expect(await client.first(4)).toEqual([
      'check_run.finished asked',
      'check_run.finished late',
      'check_run.finished ended',
      'check_run.finished ended',
    ]);
    expect(client.received.map(({ data }) => data.data)).toEqual([
      { checkId: 'shop', state: 'done' },
      { checkId: 'shop', state: 'expired' },
      { checkId: 'shop', state: 'cancelled' },
      { checkId: 'shop', state: 'cancelled' },
    ]);
    await client.close();
  });

  it('report a new state of a check after a run, and no state that was only recomputed', async () => {
    const { store } = first();
    await addLocation('berlin');
    const check = { request: { url: 'https://a.test/' }, name: 'A', privateLocations: ['berlin'] };
    await ask('/v1/checks/url/shop', { method: 'PUT', body: check });
    const client = await openFromNow(second());
    await store.query(
      `insert into check_statuses (account_id, check_id, name, has_failures, has_errors, is_degraded)
       values ($1, 'shop', 'A', true, false, false)`,
      [accountId],
    );
    const put = (set: string) =>
      store.query(`update check_statuses set ${set} where account_id = $1`, [accountId]);
    await put("state = 'failing', state_version = 1");
    await put('has_failures = false, has_errors = true, state_version = 2');
    await put("has_errors = false, state = 'passing', state_version = 3");
    await put("state = 'degraded', state_version = 4");
    expect(await client.first(4)).toEqual(Array(4).fill('check.status_changed shop'));
    expect(client.received.map(({ data }) => data.data)).toEqual([
      { state: 'failing', hasFailures: true, hasErrors: false, isDegraded: false },
      { state: 'failing', hasFailures: false, hasErrors: true, isDegraded: false },
      { state: 'passing', hasFailures: false, hasErrors: false, isDegraded: false },
      { state: 'degraded', hasFailures: false, hasErrors: false, isDegraded: false },
    ]);
    await client.close();
  });

  it('are of the own account alone', async () => {
    const theirs = randomUUID();
    await insertAccount(first().store, { id: theirs, name: 'theirs', createdAtMs: 0 });
    const other = await first().features.apiKeys.create(theirs, { name: 'b', role: 'read' });
    const client = await EventClient.open(first(), other.key);
    await addLocation('berlin');
    const created = await first().features.privateLocations.list(accountId, { limit: 1, page: 1 });
    expect(created).toHaveLength(1);
    await first().store.query("select record_event($1, 'check.created', 'theirs', '{}')", [theirs]);
    expect(await client.first(1)).toEqual(['check.created theirs']);
    await client.close();
  });

  it('continue on another replica after the last event of the client, and repeat none', async () => {
    const client = await EventClient.open(first(), key);
    const a = await addLocation('a');
    await client.first(1);
    await client.close();
    const b = await addLocation('b');
    const c = await addLocation('c');
    const resumed = await EventClient.open(second(), key, {
      headers: { 'last-event-id': client.lastId },
    });
    const d = await addLocation('d');
    const made = (ids: readonly string[]) => ids.map((id) => `location.created ${id}`);
    expect(await resumed.first(3)).toEqual(made([b, c, d]));
    const all = await EventClient.open(second(), key, { query: '?cursor=start' });
    expect(await all.first(4)).toEqual(made([a, b, c, d]));
    await resumed.close();
    await all.close();
  });

  it('are complete and in one order for clients that come and go while many change', async () => {
    const follow = async (replica: Replica): Promise<readonly string[]> => {
      const names: string[] = [];
      let lastId = '';
      while (names.length < 60) {
        const client = await EventClient.open(replica, key, {
          query: '?cursor=start',
          ...(lastId === '' ? {} : { headers: { 'last-event-id': lastId } }),
        });
        await client.first(Math.min(7, 60 - names.length));
        await client.close();
        names.push(...client.received.map(({ data }) => data.resourceId));
        lastId = client.lastId;
      }
      return names;
    };
    const write = async (writer: number): Promise<void> => {
      for (let round = 0; round < 15; round += 1) {
        const { store } = replicas[writer % 2] as Replica;
        await store.transaction(async (tx) => {
          const fields = { name: `${writer} ${round}`, script: '' };
          await insertSnippet(tx, { accountId, fields, atMs: 0 });
          await tx.query("select record_event($1, 'check.updated', $2, '{}')", [
            accountId,
            `${writer}-${round}`,
          ]);
        });
      }
    };
    const [seen, alsoSeen] = await Promise.all([
      follow(first()),
      follow(second()),
      ...[0, 1, 2, 3].map(write),
    ]);
    const written = [0, 1, 2, 3].flatMap((writer) =>
      Array.from({ length: 15 }, (_, round) => `${writer}-${round}`),
    );
    expect(seen).toHaveLength(60);
    expect(new Set(seen)).toEqual(new Set(written));
    expect(alsoSeen).toEqual(seen);
  });

  // The embedded database has one connection, so no transaction begins while another one runs.
  if (kind === 'postgres')
    it('wait for a transaction that began earlier, and come once it has ended', async () => {
      const client = await EventClient.open(first(), key);
      const record = "select record_event($1, 'check.updated', $2, '{}')";
      let commit = (): void => {};
      let slow: Promise<unknown> = Promise.resolve();
      await new Promise<void>((recorded) => {
        slow = first().store.transaction(async (tx) => {
          await tx.query(record, [accountId, 'slow']);
          recorded();
          await new Promise<void>((resolve) => {
            commit = resolve;
          });
        });
      });
      await second().store.query(record, [accountId, 'fast']);
      const { json } = await ask('/v1/events?cursor=start');
      expect(json).toEqual([]);
      expect(client.received).toEqual([]);
      commit();
      await slow;
      expect(await client.first(2)).toEqual(['check.updated slow', 'check.updated fast']);
      await client.close();
    });

  it('are refused with 410 after a cursor whose next events are deleted', async () => {
    await addLocation('a');
    const { headers } = await until(
      () => ask('/v1/events?cursor=start&limit=1'),
      ({ json }) => json.length === 1,
    );
    await addLocation('b');
    // Also those of other tests, which are older.
    await deleteEventsBefore(first().store, { beforeMs: Date.now() + 3_600_000, limit: 100_000 });
    const gone = await ask(`/v1/events?cursor=${headers['x-next-cursor']}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(gone.status).toBe(410);
    expect(gone.json.message).toContain('begin with cursor=start');
    const client = await EventClient.open(first(), key, { query: '?cursor=start' });
    await addLocation('c');
    expect(await client.first(1)).toHaveLength(1);
    await client.close();
  });

  it('are a list for clients that do not ask for a stream', async () => {
    const a = await addLocation('a');
    const b = await addLocation('b');
    const { json, headers } = await until(
      () => ask('/v1/events'),
      (list) => list.json.length >= 2,
    );
    expect(json.map(({ resourceId }: { resourceId: string }) => resourceId)).toEqual([b, a]);
    expect(headers['x-total-count']).toBe('2');
    const bad = await ask('/v1/events?cursor=x', { headers: { accept: 'text/event-stream' } });
    const wrongId = await ask('/v1/events', {
      headers: { accept: 'text/event-stream', 'last-event-id': 'x' },
    });
    expect(wrongId.status).toBe(400);
    expect(wrongId.json.message).toMatch(/^headers\.last-event-id must be "start", or a cursor/);
    expect(bad.status).toBe(400);
  });

  it.each([
    '*/*',
    'text/*, */*;q=0.8',
    'application/json, text/plain, */*',
    'text/event-stream;q=0.5, application/json',
    'text/event-stream;q=0.5, */*',
    'text/event-stream;q=0',
  ])('are a list for clients that accept %s', async (accept) => {
    const { status, json, headers } = await ask('/v1/events?limit=5&page=1', {
      headers: { accept },
    });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Array.isArray(json)).toBe(true);
  });

  it.each([
    'text/event-stream, */*;q=0.1',
    'application/json, text/event-stream',
    'Text/Event-Stream; charset=utf-8; q=0.5, application/json;q=0.4',
  ])('are a stream for clients that accept %s', async (accept) => {
    const client = await EventClient.open(first(), key, { headers: { accept } });
    const location = await addLocation('a');
    expect(await client.first(1)).toEqual([`location.created ${location}`]);
    await client.close();
  });

  it.each(['limit=5', 'page=2'])('are no stream with %s, which it would ignore', async (query) => {
    const { status, json } = await ask(`/v1/events?${query}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(status).toBe(400);
    expect(json.attributes.problems).toEqual([
      {
        path: `query.${query.replace(/=.*/, '')}`,
        message: 'must be omitted: a stream has no pages',
      },
    ]);
  });

  it('do not come from a write that repeats the stored values, which still changes the ETag', async () => {
    const client = await EventClient.open(first(), key);
    const body = { name: 'A', request: { url: 'https://a.test/' }, locations: ['eu-west-1'] };
    const created = await ask('/v1/checks/url', { method: 'POST', body });
    const path = String(created.headers.location);
    const { headers } = await ask(path, { method: 'PATCH', body: { name: 'A' } });
    expect(headers.etag).toMatch(/^"/);
    expect(headers.etag).not.toBe(created.headers.etag);
    await ask(path, { method: 'DELETE' });
    const { id } = created.json;
    expect(await client.first(2)).toEqual([`check.created ${id}`, `check.deleted ${id}`]);
    await client.close();
  });

  it('begin with a frame without data, whose id is where the stream continues', async () => {
    const client = await EventClient.open(first(), key);
    const { lastId } = client;
    expect(client.received).toEqual([]);
    await client.close();
    const location = await addLocation('a');
    const resumed = await EventClient.open(second(), key, {
      headers: { 'last-event-id': lastId },
    });
    expect(await resumed.first(1)).toEqual([`location.created ${location}`]);
    await resumed.close();
  });

  it('end when the service stops', async () => {
    const client = await EventClient.open(first(), key);
    expect(first().features.events.counts()).toEqual({ open: 1, slow: 0, dropped: 0 });
    first().stopping.abort();
    await client.ended();
    expect(first().features.events.counts()).toMatchObject({ open: 0 });
  });

  describe('in a stream while time passes', () => {
    const clock = new FakeClock();
    let replica: Replica | null = null;
    beforeEach(async () => {
      replica = await startReplica(first().store, clock);
    });
    afterEach(() => replica?.close());
    const own = (): Replica => replica as Replica;
    const SOON_BEATS = 4;
    /** Events that were sent before may arrive during the next heartbeats. */
    const endsSoon = async (client: EventClient, ...others: readonly EventClient[]) => {
      for (let beats = 0; beats < SOON_BEATS && !client.isEnded; beats += 1) {
        await beat(client, ...others);
      }
      expect(client.isEnded).toBe(true);
    };
    /** A heartbeat of each of the streams, or its end. */
    const beat = async (...clients: readonly EventClient[]): Promise<void> => {
      const before = clients.map(({ heartbeats }) => heartbeats);
      await clock.advance(15_000);
      await Promise.all(clients.map((client, at) => client.heartbeatAfter(before[at] ?? 0)));
    };

    it('come after heartbeats, which keep an idle stream open', async () => {
      const client = await EventClient.open(own(), key);
      for (const _ of [1, 2, 3]) await beat(client);
      expect(client.heartbeats).toBe(3);
      const id = await addLocation('berlin');
      // In small steps: a quarter of an hour would end the stream before a busy machine delivers it.
      while (client.received.length === 0 && !client.isEnded) await clock.advance(10);
      expect(await client.first(1)).toEqual([`location.created ${id}`]);
      await client.close();
    });

    it('end after a quarter of an hour, so that the client is authenticated anew', async () => {
      const client = await EventClient.open(own(), key);
      while (!client.isEnded) await beat(client);
      expect(client.heartbeats).toBe(60);
      expect(own().features.events.counts()).toMatchObject({ open: 0, slow: 0 });
    });

    /** A client in the middle of 20 MB of earlier events, more than the kernel buffers. */
    const openBehind = async (): Promise<EventClient> => {
      await own().store.query(
        `select record_event($1, 'check.updated', n::text, jsonb_build_object('text', repeat('x', 50000)))
         from generate_series(0, 399) n`,
        [accountId],
      );
      const behind = await EventClient.open(own(), key, { query: '?cursor=start' });
      await behind.first(1);
      behind.pause();
      return behind;
    };

    it('reach a client that needs some heartbeats to read many earlier ones', async () => {
      const behind = await openBehind();
      const live = await openFromNow(own());
      for (const _ of [1, 2, 3]) await beat(live);
      behind.resume();
      await behind.first(400);
      const names = behind.received.map(({ data }) => data.resourceId);
      expect(names).toEqual(Array.from({ length: 400 }, (_, number) => String(number)));
      expect(own().features.events.counts()).toMatchObject({ slow: 0 });
      await behind.close();
      await live.close();
    });

    it('end for a client that stops reading in the middle of many earlier ones', async () => {
      const behind = await openBehind();
      const live = await openFromNow(own());
      const { counts } = own().features.events;
      while (counts().slow === 0 && !live.isEnded) await beat(live);
      expect(counts()).toMatchObject({ slow: 1 });
      behind.resume();
      await behind.ended();
      expect(behind.received.length).toBeLessThan(400);
      await live.close();
    });

    it('end soon after their key was revoked, and those of other keys go on', async () => {
      const { apiKeys } = own().features;
      const made = await apiKeys.create(accountId, { name: 'b', role: 'read' });
      const [client, other] = [
        await EventClient.open(own(), made.key),
        await EventClient.open(own(), key),
      ];
      await beat(client, other);
      await apiKeys.revoke({ accountId, id: made.apiKey.id });
      await endsSoon(client, other);
      expect(other.isEnded).toBe(false);
      await other.close();
    });

    it('end soon after their user has signed out', async () => {
      const email = `person-${accountId}@example.com`;
      const invited = await own().app.ask('/v1/invitations', {
        key,
        method: 'POST',
        body: { email, role: 'read' },
      });
      const token = String(invited.json.url).split('/').at(-1);
      const browser = openBrowser(own().app.port);
      await browser.ask('/v1/invitations/accept', {
        method: 'POST',
        body: { token, password: 'correct horse battery' },
      });
      const headers = { cookie: String(browser.cookie) };
      const client = await EventClient.open(own(), null, { headers });
      await beat(client);
      expect(client.isEnded).toBe(false);
      expect((await browser.ask('/v1/session', { method: 'DELETE' })).status).toBe(204);
      await endsSoon(client);
    });
  });

  it('end for a client that reads too slowly, which is counted and loses nothing', async () => {
    const client = await EventClient.open(first(), key);
    client.pause();
    const { counts } = first().features.events;
    let written = 0;
    // The kernel decides how much the sockets of both sides buffer.
    while (counts().slow === 0 && written < 2_000) {
      await first().store.query(
        `select record_event($1, 'check.updated', n::text, jsonb_build_object('text', repeat('x', 50000)))
         from generate_series($2::int, $2::int + 9) n`,
        [accountId, written],
      );
      written += 10;
    }
    expect(counts()).toMatchObject({ slow: 1 });
    client.resume();
    await client.ended();
    const names = client.received.map(({ data }) => data.resourceId);
    const rest = await EventClient.open(second(), key, {
      headers: { 'last-event-id': client.lastId },
    });
    await rest.first(written - names.length);
    names.push(...rest.received.map(({ data }) => data.resourceId));
    expect(names).toEqual(Array.from({ length: written }, (_, number) => String(number)));
    expect(counts()).toMatchObject({ open: 0, slow: 1 });
    await rest.close();
  });

  it('reach a client that is still reading many earlier ones, which does not count as slow', async () => {
    const record = async (from: number, to: number): Promise<void> => {
      await first().store.query(
        `select record_event($1, 'check.updated', n::text, jsonb_build_object('text', repeat('x', 50000)))
         from generate_series($2::int, $3::int) n`,
        [accountId, from, to],
      );
    };
    await record(0, 399);
    const behind = await EventClient.open(first(), key, { query: '?cursor=start' });
    behind.pause();
    const live = await openFromNow(first());
    await record(400, 400);
    expect(await live.first(1)).toEqual(['check.updated 400']);
    behind.resume();
    await behind.first(401);
    const names = behind.received.map(({ data }) => data.resourceId);
    expect(names).toEqual(Array.from({ length: 401 }, (_, number) => String(number)));
    expect(first().features.events.counts()).toMatchObject({ slow: 0 });
    await behind.close();
    await live.close();
  });

  if (kind === 'postgres')
    it('are notified past PgBouncer, which loses notifications', async () => {
      const directUrl = await newPostgresDatabase('migrated');
      const databaseUrl = await startPgBouncer(directUrl);
      const store = await openStore(storeConfig({ databaseUrl, directUrl }), {
        clock: systemClock,
        log: silentLog(),
      });
      const replica = await startReplica(store);
      try {
        const notified = new Promise((resolve) => {
          void store.listen('vedette_events', resolve);
        });
        const mine = randomUUID();
        await insertAccount(store, { id: mine, name: 'mine', createdAtMs: 0 });
        const made = await replica.features.apiKeys.create(mine, { name: 'a', role: 'admin' });
        const client = await EventClient.open(replica, made.key);
        const { json } = await replica.app.ask('/v1/private-locations', {
          key: made.key,
          method: 'POST',
          body: { name: 'Berlin', slug: 'berlin' },
        });
        expect(await notified).toBe(mine);
        expect(await client.first(1)).toEqual([`location.created ${json.id}`]);
        await client.close();
      } finally {
        await replica.close();
        await store.close();
      }
    });

  it('are refused with 429 above the number of streams that an account may have', async () => {
    const ends = new AbortController();
    setMaxListeners(0, ends.signal);
    for (let stream = 0; stream < 200; stream += 1) {
      first().features.events.admit(accountId, ends.signal);
    }
    const refused = await ask('/v1/events', { headers: { accept: 'text/event-stream' } });
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('10');
    ends.abort();
    await (await EventClient.open(first(), key)).close();
  });
});
