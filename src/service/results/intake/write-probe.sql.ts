import type { Store } from '../../database/store.ts';

/** Four rows to a page of 8 KiB, each too short to be compressed. Small: the probe runs on a full disk. */
const ROWS = 16;
/** MD5 sums of 32 characters. */
const SUMS_PER_ROW = 60;

const ROLLBACK = new Error('rolls back what the probe wrote');

/**
 * Creates a table that needs new space on the disk of the database, and rolls back: an insert into an
 * existing table could use free space there. The table is temporary because a role may create one even
 * if another role owns the tables, and because probes then do not fill the write-ahead log: PostgreSQL
 * stops if it cannot write that.
 *
 * @throws StoreError where the database refuses it
 */
export async function probeDatabaseDisk(store: Pick<Store, 'transaction'>): Promise<void> {
  try {
    await store.transaction(async (tx) => {
      // Temporary tables may be configured to use another disk.
      await tx.query(`set local temp_tablespaces = ''`);
      await tx.query(
        `create temporary table vedette_write_probe as
         select (select string_agg(md5(row::text || n::text), '') from generate_series(1, ${SUMS_PER_ROW}) n)
         from generate_series(1, ${ROWS}) row`,
      );
      throw ROLLBACK;
    });
  } catch (thrown) {
    if (thrown !== ROLLBACK) throw thrown;
  }
}
