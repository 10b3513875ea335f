import type { Store } from '../../database/port.ts';

/** Four to a page of 8 KiB, each short enough to be stored as it is. Small, as it is tried on a full disk. */
const ROWS = 16;
/** MD5 sums of 32 characters. */
const SUMS_A_ROW = 60;

/** The transaction that is to leave nothing. */
const ROLLBACK = new Error('what the probe wrote is taken back');

/**
 * Makes a table that takes room of its own on the disk of the database, and takes it back: room that is
 * left in the tables that are there tells nothing. Temporary, as a role may make such a table where the
 * tables are another's, and so that tries do not fill the log of the database, whose server stops where
 * that cannot be written.
 *
 * @throws StoreError where the database does not take it
 */
export async function probeDatabaseDisk(store: Pick<Store, 'transaction'>): Promise<void> {
  try {
    await store.transaction(async (tx) => {
      // Temporary tables may be set to have a disk of their own.
      await tx.query(`set local temp_tablespaces = ''`);
      await tx.query(
        `create temporary table vedette_write_probe as
         select (select string_agg(md5(row::text || place::text), '') from generate_series(1, ${SUMS_A_ROW}) place)
         from generate_series(1, ${ROWS}) row`,
      );
      throw ROLLBACK;
    });
  } catch (thrown) {
    if (thrown !== ROLLBACK) throw thrown;
  }
}
