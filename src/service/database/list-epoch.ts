import type { Logger } from '../../runtime/logger.ts';
import type { Store, Transaction } from './store.ts';

/** Arbitrary; no other program on the same database may use it. */
const LOCK_KEY = 7_236_530_119;

const IS_GRANTED = `select has_function_privilege('pg_control_system()', 'execute')
  and has_function_privilege('pg_control_checkpoint()', 'execute') as is_granted`;

/** The epoch, and whether it began in this cluster and on this timeline. */
const CURRENT = `select e.epoch,
    e.system_identifier = s.system_identifier::text and e.timeline = c.timeline_id as is_here
  from list_epochs e, pg_control_system() s, pg_control_checkpoint() c
  order by e.epoch desc limit 1`;

type Current = { readonly epoch: number; readonly isHere: boolean };

/**
 * Begins a new epoch of list positions where the database was restored from a backup or a standby took
 * over: its transactions may have lower numbers than before, and cursors would miss what they store.
 * src/service/database/README.md, "Cursors".
 */
export async function renewListEpoch(store: Store, log: Logger): Promise<void> {
  const [granted] = await store.query<{ readonly isGranted: boolean }>(IS_GRANTED);
  if (granted?.isGranted !== true) {
    log.warn(
      'the database user may not execute pg_control_system() and pg_control_checkpoint(), so a restored database is not noticed and cursors of lists may miss entries after it: grant execute on both functions to it',
    );
    return;
  }
  const [known] = await store.query<Current>(CURRENT);
  if (known?.isHere !== false) return;
  const epoch = await store.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
    const [current] = await tx.query<Current>(CURRENT);
    return current?.isHere === false ? begin(tx, current.epoch + 1) : null;
  });
  if (epoch === null) return;
  log.info(
    { epoch },
    'the database was restored or a standby took over: cursors of lists continue in a new epoch',
  );
}

async function begin(tx: Transaction, epoch: number): Promise<number> {
  const tables = await tx.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attname = 'list_position' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = (select relnamespace from pg_class where oid = 'list_epochs'::regclass)
     order by 1`,
  );
  // Transactions that have stored something in the old epoch end first.
  const names = tables.map(({ name }) => name).join(', ');
  await tx.query(`lock table ${names} in share row exclusive mode`);
  await tx.script(
    `create or replace function next_list_position() returns bigint language sql volatile as
       'select (${epoch}::bigint << 42) + pg_current_xact_id()::text::bigint';
     create or replace function list_horizon() returns bigint language sql stable as
       'select (${epoch}::bigint << 42) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint'`,
  );
  await tx.query(
    `insert into list_epochs (epoch, system_identifier, timeline)
     select $1::bigint, system_identifier::text, timeline_id
     from pg_control_system(), pg_control_checkpoint()`,
    [epoch],
  );
  return epoch;
}
