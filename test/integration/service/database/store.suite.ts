import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/runtime/clock.ts';
import { storableText } from '../../../../src/runtime/text/storable-text.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { jsonText } from '../../../../src/service/database/values.ts';
import { emptySchema, useMigrated } from '../../../support/database/databases.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function gate<T>() {
  let open: (value: T | PromiseLike<T>) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, resolve: open };
}

/** The guarantees of a store, on every database. */
export function storeSuite(
  open: () => Store,
  openAnother: (clock?: Clock) => Promise<Store>,
): void {
  describe('the store', () => {
    let store: Store;
    beforeAll(async () => {
      store = open();
      await emptySchema(store);
      await store.query('create table things (id int primary key, name text unique)');
      await store.query(`create table parts (thing int, size int check (size > 0),
        constraint parts_thing foreign key (thing) references things (id))`);
      await store.query('insert into things values (1, $1)', ['one']);
    });
    const evaluate = async (sql: string, params: readonly unknown[] = []): Promise<unknown> =>
      (await store.query<{ v: unknown }>(`select ${sql} as v`, params))[0]?.v;

    it.each([
      ['12::smallint', 12],
      ['-7::int', -7],
      ['9007199254740991::bigint', 9007199254740991],
      ['(select count(*) from things)', 1],
      ['1.25::float8', 1.25],
      ["'NaN'::float8", Number.NaN],
      ['1.10::numeric', '1.10'],
      ['true', true],
      ['false', false],
      ['null::jsonb', null],
      [`'{"a":[1,"x",null]}'::jsonb`, { a: [1, 'x', null] }],
      [`'"text"'::json`, 'text'],
      ["timestamptz '2026-03-01 05:45:00.123456+05:45'", new Date('2026-03-01T00:00:00.123Z')],
      ["timestamptz '0099-01-01 00:00:00+00'", new Date('0099-01-01T00:00:00Z')],
      ["date '2026-03-01'", '2026-03-01'],
      ["timestamp '2026-03-01 10:00:00.5'", '2026-03-01 10:00:00.5'],
      ["interval '1 day 2 hours'", '1 day 02:00:00'],
      ["'\\x00ff'::bytea", Buffer.from([0, 255])],
      ["'aa'::varchar", 'aa'],
      ['array[1,2]::bigint[]', [1, 2]],
      [
        `array['a','b,c','"q"','\\','','NULL',null,'{}']`,
        ['a', 'b,c', '"q"', '\\', '', 'NULL', null, '{}'],
      ],
      ["'{}'::text[]", []],
      ['array[true,false]', [true, false]],
      ['array[1.5,null]::float8[]', [1.5, null]],
      [`array['{"a":1}','[]']::jsonb[]`, [{ a: 1 }, []]],
      ["array[timestamptz '2026-03-01Z']", [new Date('2026-03-01T00:00:00Z')]],
    ])('reads %s', async (sql, value) => {
      expect(await evaluate(sql)).toEqual(value);
    });

    it('refuses a whole number that JavaScript would round', async () => {
      await expect(evaluate('9007199254740993::bigint')).rejects.toMatchObject({
        name: 'StoreError',
        kind: 'internal',
        code: 'STORE_INEXACT',
      });
      expect(await evaluate('1')).toBe(1);
    });

    it.each([
      ['$1::int', 5, 5],
      ['$1::bigint', 5n, 5],
      ['$1::float8', 0.1, 0.1],
      ['$1::bool', false, false],
      ['$1::text', "it's; drop table things; -- \\ é 😀", "it's; drop table things; -- \\ é 😀"],
      ['$1::text', undefined, null],
      ['$1::jsonb', { a: ['b', { c: null }] }, { a: ['b', { c: null }] }],
      ['$1::jsonb', jsonText(['a', 1]), ['a', 1]],
      ['$1::jsonb', jsonText('a'), 'a'],
      ['$1::jsonb', jsonText(undefined), null],
      [
        '$1::jsonb',
        { nul: 'a\0b', half: '\ud800', kept: '\\u0000' },
        { nul: 'a\ufffdb', half: '\ufffd', kept: '\\u0000' },
      ],
      ['$1::text', storableText('a\0b'), 'a\ufffdb'],
      [
        '$1::timestamptz',
        new Date('2026-03-01T00:00:00.123Z'),
        new Date('2026-03-01T00:00:00.123Z'),
      ],
      ['$1::bytea', new Uint8Array([0, 1, 255]), Buffer.from([0, 1, 255])],
      [
        '$1::text[]',
        ['a', 'b,c', '"q"', '\\', '', 'NULL', null, '{}'],
        ['a', 'b,c', '"q"', '\\', '', 'NULL', null, '{}'],
      ],
      ['$1::int[]', [1, null], [1, null]],
      ['$1::float8[]', [1.5, 2], [1.5, 2]],
      ['$1::bool[]', [true, false], [true, false]],
      ['$1::timestamptz[]', [new Date(0)], [new Date(0)]],
      ['$1::jsonb[]', [{ a: '"' }], [{ a: '"' }]],
      ['$1::text[]', [], []],
    ])('takes %s from %o', async (sql, param, value) => {
      expect(await evaluate(sql, [param])).toEqual(value);
    });

    it('inserts many rows at once from JSON', async () => {
      const rows = Array.from({ length: 1000 }, (_, n) => ({ n, text: `row ${n}` }));
      const back = await store.query(
        'select n, text from jsonb_to_recordset($1::jsonb) as r (n int, text text)',
        [jsonText(rows)],
      );
      expect(back).toEqual(rows);
    });

    it.each([
      ['insert into things values (1)', 'conflict', 'STORE_UNIQUE', 'things_pkey'],
      ["insert into things values (2, 'one')", 'conflict', 'STORE_UNIQUE', 'things_name_key'],
      ['insert into parts values (99, 1)', 'conflict', 'STORE_REFERENCE', 'parts_thing'],
      ['insert into parts values (1, 0)', 'invalid', 'STORE_CHECK', 'parts_size_check'],
      ['insert into things values (null)', 'invalid', 'STORE_NOT_NULL', null],
      ["select 'x'::int", 'invalid', 'STORE_VALUE', null],
      ['select 1/0', 'invalid', 'STORE_VALUE', null],
      ['selekt 1', 'internal', 'STORE_STATEMENT', null],
      ['select * from nothing', 'internal', 'STORE_STATEMENT', null],
      ['select 1; select 2', 'internal', 'STORE_STATEMENT', null],
    ])('%s fails as %s %s', async (sql, kindOfError, code, constraint) => {
      await expect(store.query(sql)).rejects.toMatchObject({
        name: 'StoreError',
        kind: kindOfError,
        code,
        constraint,
      });
      expect(await evaluate('1')).toBe(1);
    });

    it('refuses a text that the database cannot keep', async () => {
      await expect(evaluate('$1::text', ['a\0b'])).rejects.toMatchObject({ kind: 'invalid' });
    });

    it('shows no values in the error of a statement', async () => {
      const thrown = await store
        .query('insert into things values (2, $1), (3, $1)', ['secret'])
        .catch((error: unknown) => error);
      expect(thrown).toMatchObject({ kind: 'conflict' });
      expect(JSON.stringify(thrown) + String(thrown)).not.toContain('secret');
      expect(thrown).not.toHaveProperty('cause');
    });

    describe('a transaction', () => {
      const namesFrom = async (id: number): Promise<unknown[]> =>
        (await store.query('select name from things where id >= $1 order by id', [id])).map(
          ({ name }) => name,
        );

      it('is kept whole', async () => {
        const result = await store.transaction(async (tx) => {
          await tx.query("insert into things values (10, 'ten')");
          await tx.script(
            "insert into things values (11, 'eleven'); insert into things values (12, 'twelve')",
          );
          return 'done';
        });
        expect(result).toBe('done');
        expect(await namesFrom(10)).toEqual(['ten', 'eleven', 'twelve']);
      });

      it('leaves nothing when its work fails, and fails with the same', async () => {
        const fault = new Error('changed my mind');
        const run = store.transaction(async (tx) => {
          await tx.query("insert into things values (20, 'twenty')");
          throw fault;
        });
        await expect(run).rejects.toBe(fault);
        expect(await namesFrom(20)).toEqual([]);
      });

      it.each(['40001', '40P01'])('is run again after SQLSTATE %s', async (state) => {
        let tries = 0;
        await store.transaction(async (tx) => {
          tries += 1;
          await tx.query('insert into things values ($1)', [30 + Number.parseInt(state, 10)]);
          if (tries < 3) await tx.query(`do $$ begin raise sqlstate '${state}'; end $$`);
        });
        expect(tries).toBe(3);
        expect(await namesFrom(30 + Number.parseInt(state, 10))).toHaveLength(1);
        await store.query('delete from things where id >= 30');
      });

      it('is given up after five tries', async () => {
        let tries = 0;
        const run = store.transaction(async (tx) => {
          tries += 1;
          await tx.query("do $$ begin raise sqlstate '40001'; end $$");
        });
        await expect(run).rejects.toMatchObject({
          kind: 'unavailable',
          code: 'STORE_SERIALIZATION',
        });
        expect(tries).toBe(5);
      });

      it('is not run again after other errors', async () => {
        let tries = 0;
        const run = store.transaction(async (tx) => {
          tries += 1;
          await tx.query('insert into things values (1)');
        });
        await expect(run).rejects.toMatchObject({ kind: 'conflict' });
        expect(tries).toBe(1);
      });

      it('does not count as done when the error of a statement was caught', async () => {
        const run = store.transaction(async (tx) => {
          await tx.query('select 1/0').catch(() => {});
        });
        await expect(run).rejects.toMatchObject({ kind: 'internal', code: 'STORE_USE' });
      });

      it('refuses the store itself, which would wait for ever or not take part', async () => {
        const refused = { kind: 'internal', code: 'STORE_USE' };
        await store.transaction(async () => {
          await expect(store.query('select 1')).rejects.toMatchObject(refused);
          await expect(store.transaction(async () => {})).rejects.toMatchObject(refused);
        });
      });

      it('refuses statements after its end', async () => {
        const tx = await store.transaction(async (open) => open);
        await expect(tx.query('select 1')).rejects.toMatchObject({ code: 'STORE_USE' });
      });

      it('ends after the statements that were not awaited', async () => {
        await store.transaction(async (tx) => {
          void tx.query("insert into things values (40, 'forty')");
        });
        expect(await namesFrom(40)).toEqual(['forty']);
      });

      it('does not lose an update among many', async () => {
        await store.query('create table counter (n int)');
        await store.query('insert into counter values (0)');
        const add = (): Promise<void> =>
          store.transaction(async (tx) => {
            const [row] = await tx.query<{ n: number }>('select n from counter for update');
            await tx.query('update counter set n = $1', [(row?.n ?? 0) + 1]);
          });
        await Promise.all(Array.from({ length: 50 }, add));
        expect(await store.query('select n from counter')).toEqual([{ n: 50 }]);
      });
    });

    describe('notifications', () => {
      it('arrive with their payload, those of a transaction after its end', async () => {
        const heard: string[] = [];
        const { promise, resolve } = gate<void>();
        const end = await store.listen('news', (payload) => {
          heard.push(payload);
          if (payload === 'last') resolve();
        });
        await store.query("notify news, 'first'");
        await store.transaction(async (tx) => {
          await tx.query("select pg_notify('news', $1)", ['second']);
        });
        await store
          .transaction(async (tx) => {
            await tx.query("notify news, 'never'");
            throw new Error('rolled back');
          })
          .catch(() => {});
        await store.query("notify other_news, 'elsewhere'");
        await store.query("notify news, 'last'");
        await promise;
        expect(heard).toEqual(['first', 'second', 'last']);
        await end();
      });

      it('end for one listener, not for the next', async () => {
        const heard: string[] = [];
        const { promise, resolve } = gate<void>();
        const endFirst = await store.listen('shared', () => heard.push('first'));
        const endSecond = await store.listen('shared', () => {
          heard.push('second');
          resolve();
        });
        await endFirst();
        await store.query("notify shared, 'x'");
        await promise;
        expect(heard).toEqual(['second']);
        await endSecond();
      });

      it('let a listener use the store, also when sent in a transaction', async () => {
        const { promise, resolve } = gate<unknown>();
        const end = await store.listen('wake', () => resolve(evaluate('42')));
        await store.transaction(async (tx) => {
          await tx.query('notify wake');
        });
        expect(await promise).toBe(42);
        await end();
      });

      it('outlive a listener that throws', async () => {
        const { promise, resolve } = gate<void>();
        const end = await store.listen('faulty', (payload) => {
          if (payload === 'bad') throw new Error('a fault');
          resolve();
        });
        await store.query("notify faulty, 'bad'");
        await store.query("notify faulty, 'good'");
        await promise;
        await end();
      });

      it('refuse a channel whose name would need quotes', async () => {
        await expect(store.listen('news; drop', () => {})).rejects.toMatchObject({
          code: 'STORE_USE',
        });
      });
    });

    it('is closed after 5 s even where a transaction does not end', async () => {
      const clock = new FakeClock();
      const other = await openAnother(clock);
      const started = gate<void>();
      const goOn = gate<void>();
      const stuck = other.transaction(async (tx) => {
        await tx.query('select 1');
        started.resolve();
        await goOn.promise;
      });
      await started.promise;
      const closing = other.close();
      await clock.advance(5000);
      await closing;
      goOn.resolve();
      await stuck.catch(() => {});
    });

    it('lets running calls end when it is closed, and then refuses all others', async () => {
      const other = await openAnother();
      const running = Array.from({ length: 20 }, (_, n) => other.query('select $1::int as v', [n]));
      await other.close();
      expect(await Promise.all(running)).toEqual(running.map((_, n) => [{ v: n }]));
      await other.close();
      const refused = { kind: 'unavailable', code: 'STORE_CLOSED' };
      await expect(other.query('select 1')).rejects.toMatchObject(refused);
      await expect(other.transaction(async () => {})).rejects.toMatchObject(refused);
      await expect(other.listen('news', () => {})).rejects.toMatchObject(refused);
    });
  });
}

/** The guarantees of the schema, on every database. */
export function schemaSuite(store: () => Store): void {
  describe('the schema', () => {
    useMigrated(store);

    it('keeps the same result of two accounts apart', async () => {
      await store().query("select make_result_partitions('2026-01-01', '2026-01-01')");
      const insert = (account: string): Promise<unknown> =>
        store().query(
          `insert into check_results (check_id, account_id, id, result_type, slot, created_at,
           has_failures, has_errors, run_location, check_type, body)
         values ('c', $1, 'r', 'FINAL', $2, $2, false, false, 'here', 'URL', '{}')`,
          [account, new Date('2026-01-01T00:00:00Z')],
        );
      await insert('a');
      await insert('b');
      await expect(insert('b')).rejects.toMatchObject({ kind: 'conflict', code: 'STORE_UNIQUE' });
      expect(await store().query('select account_id from check_results order by 1')).toEqual([
        { accountId: 'a' },
        { accountId: 'b' },
      ]);
    });

    it('keeps the checks of a deleted group', async () => {
      await store().query("insert into accounts (id, name) values ('a', 'A')");
      const [group] = await store().query<{ id: number }>(
        "insert into check_groups (account_id, name) values ('a', 'G') returning id",
      );
      await store().query(
        `insert into checks (account_id, id, check_type, name, activated, muted, group_id, frequency, body)
       values ('a', 'c', 'URL', 'C', true, false, $1, 10, '{}')`,
        [group?.id],
      );
      await store().query('delete from check_groups');
      expect(await store().query('select id, group_id from checks')).toEqual([
        { id: 'c', groupId: null },
      ]);
      await store().query('delete from accounts');
      expect(await store().query('select id from checks')).toEqual([]);
    });
  });
}
