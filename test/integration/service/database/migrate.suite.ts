import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/runtime/logger.ts';
import { migrate } from '../../../../src/service/database/migrate.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { emptySchema, silentLog } from '../../../support/database/databases.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

/** Migrations, on every database. */
export function migrateSuite(store: () => Store): void {
  describe('migrations', () => {
    const temp = makeTempFolder();
    let releases = 0;
    beforeEach(() => emptySchema(store()));
    afterAll(() => temp.remove());

    /** The migrations of one release. */
    const release = (files: Readonly<Record<string, string>>): string => {
      releases += 1;
      const folder = temp.file(`release-${releases}`);
      mkdirSync(folder);
      for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
      return folder;
    };
    const apply = async (folder: string) => {
      const { applied, left } = await migrate(store(), silentLog(), { folder });
      expect(left).toEqual([]);
      return { applied };
    };

    const ONE = 'create table one (id int);\ninsert into one values (1);';
    const TWO = 'alter table one add column name text;';

    it('apply what is new, once', async () => {
      const first = release({ '0001_one.sql': ONE });
      expect(await apply(first)).toEqual({ applied: ['0001_one.sql'] });
      expect(await apply(first)).toEqual({ applied: [] });
      const second = release({ '0001_one.sql': ONE, '0002_two.sql': TWO });
      expect(await apply(second)).toEqual({ applied: ['0002_two.sql'] });
      expect(await store().query('select id, name from one')).toEqual([{ id: 1, name: null }]);
    });

    it('stop between two files, and say what is left', async () => {
      const stop = new AbortController();
      const log = { ...silentLog(), info: () => stop.abort() } as unknown as Logger;
      const folder = release({ '0001_one.sql': ONE, '0002_two.sql': TWO, '0003_three.sql': '' });
      expect(await migrate(store(), log, { folder, signal: stop.signal })).toEqual({
        applied: ['0001_one.sql'],
        left: ['0002_two.sql', '0003_three.sql'],
      });
      expect(await store().query('select * from one')).toEqual([{ id: 1 }]);
      expect(await apply(folder)).toEqual({ applied: ['0002_two.sql', '0003_three.sql'] });
    });

    it('stop before the first file of an empty database', async () => {
      const folder = release({ '0001_one.sql': ONE });
      expect(await migrate(store(), silentLog(), { folder, signal: AbortSignal.abort() })).toEqual({
        applied: [],
        left: ['0001_one.sql'],
      });
    });

    it('let the previous release start again', async () => {
      await apply(release({ '0001_one.sql': ONE, '0002_two.sql': TWO }));
      expect(await apply(release({ '0001_one.sql': ONE }))).toEqual({ applied: [] });
    });

    it('ignore the line ends of another system', async () => {
      await apply(release({ '0001_one.sql': ONE }));
      const other = release({ '0001_one.sql': ONE.replaceAll('\n', '\r\n') });
      expect(await apply(other)).toEqual({ applied: [] });
    });

    it('leave nothing of a file that fails, and keep those before it', async () => {
      const bad = 'create table two (id int); insert into nowhere values (1);';
      const folder = release({ '0001_one.sql': ONE, '0002_bad.sql': bad });
      await expect(apply(folder)).rejects.toMatchObject({ name: 'StoreError', kind: 'internal' });
      expect(await store().query("select to_regclass('two') as two")).toEqual([{ two: null }]);
      const mended = release({ '0001_one.sql': ONE, '0002_bad.sql': 'create table two (id int);' });
      expect(await apply(mended)).toEqual({ applied: ['0002_bad.sql'] });
    });

    it('refuse a file that was changed after it was applied, and apply nothing then', async () => {
      await apply(release({ '0001_one.sql': ONE }));
      const folder = release({ '0001_one.sql': `${ONE} -- edited`, '0002_two.sql': TWO });
      await expect(apply(folder)).rejects.toMatchObject({ code: 'MIGRATION_CHANGED' });
      expect(await store().query('select count(*) as n from schema_migrations')).toEqual([
        { n: 1 },
      ]);
    });

    it.each([
      ['a gap', { '0001_one.sql': ONE, '0003_three.sql': TWO }],
      ['a number twice', { '0001_a.sql': ONE, '0001_b.sql': TWO }],
      ['a beginning other than 1', { '0002_two.sql': TWO }],
      ['another name', { '0001_one.sql': ONE, 'notes.txt': '' }],
    ])('refuse files with %s', async (_, files) => {
      await expect(apply(release(files))).rejects.toMatchObject({ code: 'MIGRATION_NUMBER' });
      expect(await store().query("select to_regclass('one') as one")).toEqual([{ one: null }]);
    });

    it('refuse a database whose record has a gap', async () => {
      const folder = release({ '0001_one.sql': ONE, '0002_two.sql': TWO });
      await apply(folder);
      await store().query('delete from schema_migrations where number = 1');
      await expect(apply(folder)).rejects.toMatchObject({ code: 'MIGRATION_MISSING' });
    });
  });
}
