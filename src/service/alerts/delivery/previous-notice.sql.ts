import type { Sql } from '../../database/store.ts';
import type { AlertNotice } from '../notice.ts';
import type { DeliveryKey } from './sql.ts';

/**
 * The notice of the same check to the same channel immediately before this delivery; null if there is none. Ignores
 * certificates.
 */
export async function findPreviousNotice(
  sql: Sql,
  { accountId, channelId, id }: DeliveryKey,
): Promise<AlertNotice | null> {
  const [row] = await sql.query<{ notice: AlertNotice }>(
    `select d.notice from alert_deliveries this
       join alert_deliveries d on d.account_id = this.account_id and d.channel_id = this.channel_id
         and d.check_id = this.check_id and d.seq < this.seq
     where this.account_id = $1 and this.channel_id = $2::bigint and this.id = $3
       and d.alert_type <> 'ALERT_SSL'
     order by d.seq desc limit 1`,
    [accountId, channelId, id],
  );
  return row?.notice ?? null;
}
