import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import { createListEpochs } from '../../../../src/service/database/lists/list-epochs.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { insertSnippet } from '../../../../src/service/snippets/sql.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const namesIn = (reply: Reply): readonly string[] =>
  reply.json.map(({ name }: { name: string }) => name);

/** The path of a link of the response; null without one. */
function linkOf(reply: Reply, rel: string): string | null {
  const link = new RegExp(`<([^>]*)>; rel="${rel}"`).exec(String(reply.headers.link));
  if (link?.[1] === undefined) return null;
  const { pathname, search } = new URL(link[1]);
  return pathname + search;
}

/**
 * Reads a list from a path on until it has `atLeast` entries and no next part. Transactions of
 * other tests on the same server delay them. Returns the names and the last cursor.
 */
async function walk(client: Client, path: string, atLeast = 0) {
  const names: string[] = [];
  const [list] = path.split('?');
  for (;;) {
    const reply = await client.get(path);
    expect(reply.status, reply.text).toBe(200);
    names.push(...namesIn(reply));
    const next = linkOf(reply, 'next');
    const cursor = String(reply.headers['x-next-cursor']);
    if (next === null && names.length >= atLeast) return { names, cursor };
    path = next ?? `${list}?cursor=${cursor}`;
  }
}

const epochsOf = (store: Store, clock: Clock = systemClock) =>
  createListEpochs({ store, clock, log: silentLog() });

async function lastEpoch(store: Store): Promise<number> {
  const rows = await store.query<{ epoch: number }>('select max(epoch) as epoch from list_epochs');
  return rows[0]?.epoch ?? -1;
}

describe.each(databases)('a list read by cursors on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  const LIST = '/v1/snippets';

  async function addSnippets(names: readonly string[]): Promise<void> {
    for (const name of names) {
      expect((await service().mine.post(LIST, { name, script: '1' })).status).toBe(201);
    }
  }

  it('has every entry once, while others are added and removed before and after', async () => {
    const { mine } = service();
    await addSnippets(['a', 'b', 'c', 'd', 'e']);
    await walk(mine, `${LIST}?cursor=start`, 5);
    const first = await mine.get(`${LIST}?cursor=start&limit=2`);
    expect(namesIn(first)).toEqual(['a', 'b']);
    const [{ id: a }] = first.json;
    expect((await mine.delete(`${LIST}/${a}`)).status).toBe(204);
    await addSnippets(['f']);
    const rest = await walk(mine, linkOf(first, 'next') ?? '', 4);
    expect(rest.names).toEqual(['c', 'd', 'e', 'f']);
  });

  it('continues where it ended when entries are added later', async () => {
    const { mine } = service();
    await addSnippets(['a', 'b']);
    const { cursor } = await walk(mine, `${LIST}?cursor=start&limit=1`, 2);
    const nothing = await mine.get(`${LIST}?cursor=${cursor}`);
    expect(nothing.json).toEqual([]);
    expect(linkOf(nothing, 'next')).toBeNull();
    await addSnippets(['c']);
    const next = String(nothing.headers['x-next-cursor']);
    expect((await walk(mine, `${LIST}?cursor=${next}`, 1)).names).toEqual(['c']);
  });

  it('loses and repeats nothing while transactions commit in another order than they began', async () => {
    const { store, mine } = service();
    const { accountId } = mine;
    const written: string[] = [];
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const ticks = async (count: number): Promise<void> => {
      for (let tick = 0; tick < count; tick += 1) await nextTick();
    };
    let running = 0;
    const write = async (writer: number): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        const names = [0, 1].map((n) => `${writer}-${round}-${n}`);
        await store.transaction(async (tx) => {
          for (const name of names) {
            await insertSnippet(tx, { accountId, fields: { name, script: '1' }, atMs: 0 });
            await ticks(random(40));
          }
        });
        written.push(...names);
      }
      running -= 1;
    };
    const writers = Array.from({ length: 6 }, (_, writer) => {
      running += 1;
      return write(writer);
    });
    const seen: string[] = [];
    let cursor = 'start';
    for (let isLast = false; ; ) {
      const part = await walk(mine, `${LIST}?cursor=${cursor}&limit=7`);
      seen.push(...part.names);
      cursor = part.cursor;
      if (isLast) break;
      isLast = running === 0 && seen.length >= written.length;
    }
    await Promise.all(writers);
    expect(seen).toHaveLength(written.length);
    expect(new Set(seen)).toEqual(new Set(written));
  });

  // The embedded database has one connection, so no transaction begins while another one runs.
  if (kind === 'postgres')
    it('stops before a transaction that is still running, unlike a cursor of ids', async () => {
      const { store, mine } = service();
      const { accountId } = mine;
      const insert = (name: string) => ({ accountId, fields: { name, script: '1' }, atMs: 0 });
      let commit = (): void => {};
      let slow: Promise<unknown> = Promise.resolve();
      await new Promise<void>((inserted) => {
        slow = store.transaction(async (tx) => {
          await insertSnippet(tx, insert('slow'));
          inserted();
          await new Promise<void>((resolve) => {
            commit = resolve;
          });
        });
      });
      await insertSnippet(store, insert('fast'));
      const byIds = (after: number) =>
        store.query<{ id: number; name: string }>(
          'select id, name from snippets where account_id = $1 and id > $2::bigint order by id',
          [accountId, after],
        );
      const idsBefore = await byIds(0);
      const before = await walk(mine, `${LIST}?cursor=start`);
      commit();
      await slow;
      const idsAfter = await byIds(idsBefore.at(-1)?.id ?? 0);
      const after = await walk(mine, `${LIST}?cursor=${before.cursor}`, 2);
      expect([...idsBefore, ...idsAfter].map(({ name }) => name)).toEqual(['fast']);
      expect([...before.names, ...after.names]).toEqual(['slow', 'fast']);
    });

  it('continues after a restore in a cluster that counts its transactions from the start', async () => {
    const { store, mine } = service();
    const first = await lastEpoch(store);
    const restore = async (): Promise<void> => {
      await store.query("update list_epochs set system_identifier = 'another'");
      await store.query('update snippets set list_position = list_position + 1000000000000');
    };
    await addSnippets(['a', 'b']);
    const { cursor: old } = await walk(mine, `${LIST}?cursor=start`, 2);
    await restore();
    await epochsOf(store).renew();
    await addSnippets(['c']);
    expect((await walk(mine, `${LIST}?cursor=start`, 3)).names).toEqual(['a', 'b', 'c']);
    const { names, cursor } = await walk(mine, `${LIST}?cursor=${old}`, 1);
    expect(names.at(-1)).toBe('c');
    await epochsOf(store).renew();
    expect(await lastEpoch(store)).toBe(first + 1);
    await addSnippets(['d']);
    expect((await walk(mine, `${LIST}?cursor=${cursor}`, 1)).names).toEqual(['d']);
  });

  it('notices within a minute that a standby took over while the service runs, on two replicas', async () => {
    const { store } = service();
    const clock = new FakeClock();
    const stop = new AbortController();
    const first = await lastEpoch(store);
    const working = [epochsOf(store, clock), epochsOf(store, clock)].map((epochs) =>
      epochs.maintain(stop.signal),
    );
    await eventually(() => clock.pendingTimers === working.length);
    await store.query('update list_epochs set timeline = timeline - 1');
    while ((await lastEpoch(store)) === first) await clock.advance(60_000);
    stop.abort();
    await Promise.all(working);
    expect(await lastEpoch(store)).toBe(first + 1);
  });

  if (kind === 'postgres')
    it('lets others write while a transaction holds up a new epoch, and begins it afterwards', async () => {
      const { store, mine } = service();
      const clock = new FakeClock();
      const stop = new AbortController();
      const first = await lastEpoch(store);
      let commit = (): void => {};
      let slow: Promise<unknown> = Promise.resolve();
      await new Promise<void>((inserted) => {
        slow = store.transaction(async (tx) => {
          const fields = { name: 'slow', script: '1' };
          await insertSnippet(tx, { accountId: mine.accountId, fields, atMs: 0 });
          inserted();
          await new Promise<void>((resolve) => {
            commit = resolve;
          });
        });
      });
      await store.query('update list_epochs set timeline = timeline - 1');
      await epochsOf(store).renew();
      const working = epochsOf(store, clock).maintain(stop.signal);
      await addSnippets(['fast']);
      expect(await lastEpoch(store)).toBe(first);
      commit();
      await slow;
      while ((await lastEpoch(store)) === first) await clock.advance(60_000);
      stop.abort();
      await working;
    });

  it('continues in a window that stays where it was', async () => {
    const { mine, clock } = service();
    const path = '/v1/check-alerts?cursor=start';
    const { headers } = await mine.get(path);
    clock.spend(30 * 3_600_000);
    const later = await mine.get(`/v1/check-alerts?cursor=${headers['x-next-cursor']}`);
    expect(later.status).toBe(200);
  });

  it.each([
    ['nothing', ''],
    ['a word', 'next'],
    ['another form', Buffer.from('{"a":1}').toString('base64url')],
    ['a hostile id', Buffer.from('[1,"x",1,"1","\\u0000"]').toString('base64url')],
    ['a hostile position', Buffer.from('[1,"x",1,"1; drop","1"]').toString('base64url')],
  ])('refuses %s as a cursor and says how to begin', async (_, cursor) => {
    const reply = await service().mine.get(`${LIST}?cursor=${cursor}`);
    expect(reply.status).toBe(400);
    expect(problemsIn(reply)).toEqual([expect.stringContaining('query.cursor must be "start"')]);
  });

  it('refuses the cursor of another list, of other filters and of another account', async () => {
    const { mine, theirs } = service();
    await addSnippets(['a']);
    const { headers } = await mine.get('/v1/checks?cursor=start&tag=a');
    const cursor = headers['x-next-cursor'];
    expect((await mine.get(`/v1/checks?tag=a&limit=3&cursor=${cursor}`)).status).toBe(200);
    for (const reply of [
      await mine.get(`${LIST}?cursor=${cursor}`),
      await mine.get(`/v1/checks?cursor=${cursor}&tag=b`),
      await theirs.get(`/v1/checks?cursor=${cursor}&tag=a`),
    ]) {
      expect(problemsIn(reply)).toEqual([expect.stringContaining('is of another list')]);
    }
    expect(problemsIn(await mine.get(`${LIST}?cursor=start&page=2`))).toEqual([
      expect.stringContaining('query.page must be omitted'),
    ]);
  });

  it('links pages with the filters of the request, and says how many entries there are', async () => {
    const { mine } = service();
    await addSnippets(['a', 'b', 'c']);
    const first = await mine.get(`${LIST}?limit=2`);
    expect(first.headers['x-total-count']).toBe('3');
    expect(first.headers['x-total-count-at-least']).toBeUndefined();
    expect(linkOf(first, 'prev')).toBeNull();
    const second = await mine.get(linkOf(first, 'next') ?? '');
    expect(namesIn(second)).toEqual(['c']);
    expect(second.headers['x-total-count']).toBe('3');
    expect(linkOf(second, 'next')).toBeNull();
    expect(linkOf(second, 'prev')).toBe(`${LIST}?limit=2&page=1`);
    expect(linkOf(second, 'first')).toBe(`${LIST}?limit=2&page=1`);
  });

  it('counts at most 10,000 entries', async () => {
    const { mine, store } = service();
    await store.query(
      `insert into snippets (account_id, name, script)
       select $1, n::text, '' from generate_series(1, 10001) n`,
      [mine.accountId],
    );
    const { headers } = await mine.get(LIST);
    expect(headers['x-total-count']).toBe('10000');
    expect(headers['x-total-count-at-least']).toBe('true');
    expect((await mine.get(`${LIST}?cursor=start`)).headers['x-total-count']).toBe('10000');
  });
});
