import type { Store } from '../../../src/service/database/store.ts';

/**
 * Claims what the previous release would send now: it knows neither what waits for a digest nor what another
 * delivery carries.
 */
export async function claimAsPreviousRelease(
  store: Store,
  { owner, atMs }: { readonly owner: string; readonly atMs: number },
): Promise<readonly { readonly id: string; readonly attempt: number; readonly check: string }[]> {
  return store.query<{ id: string; attempt: number; check: string }>(
    `update alert_deliveries set state = 'sending', attempts = attempts + 1, owner = $2,
       lease_until = now() + interval '1 minute', last_attempt_at = $1::timestamptz
     where id in (select d.id from alert_deliveries d
       where d.finished_at is null and d.due_at <= $1::timestamptz
         and (d.state = 'waiting' or d.lease_until < now())
         and not exists (
           select from alert_deliveries before
           where before.account_id = d.account_id and before.channel_id = d.channel_id
             and before.check_id = d.check_id and before.finished_at is null
             and before.seq < d.seq))
     returning id, attempts as attempt, check_id as check`,
    [new Date(atMs), owner],
  );
}
