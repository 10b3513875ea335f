import type { StoredCheckType } from '../../model/enums.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

/** The certificate that a check saw last. */
export type SeenCertificate = {
  readonly checkId: string;
  readonly name: string;
  readonly checkType: StoredCheckType;
  readonly activated: boolean;
  /** Whole days until it expires, at the time `seenAt`. */
  readonly daysThen: number;
  /** The slot of the run. */
  readonly seenAt: Date;
  /** The location of the run. This and all fields below are null if the result is no longer stored. */
  readonly location: string | null;
  readonly authorized: boolean | null;
  readonly protocol: string | null;
  /** As in the result (src/model/result/details/check-detail.ts, CertificateFacts). */
  readonly certificate: unknown;
};

const ENDS_AT = 's.ssl_slot + make_interval(days => s.ssl_days_remaining)';

/** The TLS facts of a result `f`: `tlsFactsOf` in SQL. */
const TLS_OF_RESULT = `coalesce(nullif(f.body #> '{apiCheckResult,response,tls}', 'null'),
  f.body #> '{apiCheckResult,tls}', f.body #> '{tcpCheckResult,tls}', f.body #> '{dnsCheckResult,tls}')`;

/** Reads the certificates that checks saw, the one that expires first at the top. */
export function listSeenCertificates(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly SeenCertificate[]> {
  const list = {
    columns: `s.account_id, s.check_id, c.name, c.check_type, c.activated,
      s.ssl_days_remaining as days_then, s.ssl_slot as seen_at, ${ENDS_AT} as ends_at`,
    from: `check_statuses s join checks c on c.account_id = s.account_id and c.id = s.check_id`,
    where: 's.account_id = $1 and s.ssl_slot is not null and s.ssl_days_remaining is not null',
    params: [accountId],
    order: `${ENDS_AT}, s.check_id`,
    id: { sql: 's.check_id', type: 'text' } as const,
    position: 'c.list_position',
    // Results are large: only those of the page are read, each by the slot that the status names.
    wrap: (page: string, order: string, keys: string) =>
      `select s.check_id, s.name, s.check_type, s.activated, s.days_then, s.seen_at, r.location,
         (r.tls -> 'authorized')::boolean as authorized, r.tls ->> 'protocol' as protocol,
         r.tls -> 'certificate' as certificate ${keys}
       from (${page}) s left join lateral (
         select f.run_location as location,
           ${TLS_OF_RESULT} as tls
         from check_results f
         where f.account_id = s.account_id and f.check_id = s.check_id and f.slot = s.seen_at
           and f.result_type = 'FINAL'
           and ${TLS_OF_RESULT} #>> '{certificate,daysRemaining}' = s.days_then::text
         order by f.run_location collate "C" limit 1) r on true
       ${order.replace(ENDS_AT, 's.ends_at')}`,
  };
  return readList<SeenCertificate>(sql, list, range);
}

export type ChecksOfHost = {
  readonly id: string;
  readonly checkCount: number;
  /** The first of them by name. */
  readonly checks: readonly { readonly id: string; readonly name: string }[];
};

/** Matches the host of an https URL that has no variable before its path. */
const HTTPS_HOST =
  '^https://(?:[^/?#{}]*@)?(\\[[0-9A-Fa-f:.]+\\]|[^/:?#@{}\\[\\]]+)(?::[0-9]+)?(?:[/?#]|$)';

/** Finds the checks that a client certificate is sent for, as far as their addresses show. */
export function findChecksOfHosts(
  sql: Sql,
  {
    accountId,
    certificates,
    maxChecks,
  }: {
    readonly accountId: string;
    readonly certificates: readonly { readonly id: string; readonly host: string }[];
    /** Maximum number of checks to return for each certificate. */
    readonly maxChecks: number;
  },
): Promise<readonly ChecksOfHost[]> {
  return sql.query<ChecksOfHost>(
    `with hosts as (
       select c.id, c.name, lower(substring(c.body #>> '{request,url}' from $2)) as host
       from checks c where c.account_id = $1 and c.check_type in ('URL', 'API')
       union all
       select c.id, c.name, lower(c.body #>> '{request,hostname}')
       from checks c where c.account_id = $1 and c.check_type = 'TCP'
         and c.body #>> '{request,tls}' in ('ON', 'STARTTLS')
       union all
       select c.id, c.name, lower(c.body #>> '{request,nameServer}')
       from checks c where c.account_id = $1 and c.check_type = 'DNS'
         and c.body #>> '{request,protocol}' in ('DOT', 'DOH')
     )
     select given.id, count(*) as check_count, to_jsonb((array_agg(
         jsonb_build_object('id', h.id, 'name', h.name) order by h.name, h.id))[1:$5::int]) as checks
     from unnest($3::text[], $4::text[]) as given (id, host)
       join hosts h on btrim(h.host, '[]') = lower(given.host)
         or (given.host like '*.%' and strpos(h.host, '.') > 1
           and substr(h.host, strpos(h.host, '.')) = lower(substr(given.host, 2)))
     group by given.id`,
    [
      accountId,
      HTTPS_HOST,
      certificates.map(({ id }) => id),
      certificates.map(({ host }) => host),
      maxChecks,
    ],
  );
}
