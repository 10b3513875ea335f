import type { Acknowledgement } from '../../model/alerting/acknowledgement.ts';
import type { AlertState } from '../../model/alerting/alert-state-machine.ts';
import type { NotifiedExpiry } from '../../model/alerting/certificate-expiry.ts';
import type { Flapping } from '../../model/alerting/flapping.ts';
import type { LocationVerdict } from '../../model/alerting/location-verdicts.ts';
import type { CheckType, Frequency } from '../../model/enums.ts';
import { PRIVATE_LOCATIONS_IN_FORCE } from '../checks/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { FailureFacts } from './observation.ts';

/** The run that an alert is about. */
export interface RunFacts {
  /** null for the state of a heartbeat, and left out in records of earlier releases. */
  readonly resultId?: string | null;
  readonly runLocation: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  readonly sslDaysRemaining: number | null;
  /** Left out for a run that passed, for a heartbeat, and in records of earlier releases. */
  readonly failure?: FailureFacts;
}

/** The stored alert state of a check. */
export interface AlertRecord {
  readonly state: AlertState;
  /** The last run that was not passing; null while the check passes. */
  readonly lastRun: RunFacts | null;
  /** The alert that reminders are about. */
  readonly alertId: string | null;
  /** Whether the failure opened an incident. */
  readonly hasIncident: boolean;
  /** When `claimDueSubjects` returns the check, epoch milliseconds; null for never. */
  readonly dueAtMs: number | null;
  readonly notifiedExpiry: NotifiedExpiry | null;
  /** Left out for a check without alerts, and by earlier releases. */
  readonly flapping?: Flapping;
  /** The last acknowledgement of the problem; in force while `state` has one. */
  readonly acknowledgement: Acknowledgement | null;
  /** The channels that get the notices of the problem by escalation. */
  readonly escalatedTo: readonly number[];
}

/** The fields of a check and its group that its alerts depend on. */
export interface AlertSubject {
  readonly accountId: string;
  readonly checkId: string;
  readonly name: string;
  readonly checkType: CheckType;
  /** Its own and its group's. */
  readonly tags: readonly string[];
  readonly groupName: string | null;
  readonly isActive: boolean;
  readonly isMuted: boolean;
  readonly runsParallel: boolean;
  /** Slugs of private locations: its group's where the group has any. */
  readonly locations: readonly string[];
  readonly frequency: Frequency;
  readonly frequencyOffset: number | null;
  /** The stored settings, perhaps of an older release. */
  readonly settings: {
    readonly own: unknown;
    readonly ownUsesGlobal: boolean;
    readonly group: unknown;
    readonly groupUsesGlobal: boolean;
    readonly account: unknown;
  };
  /** The account's, as stored; null without one. */
  readonly escalationStep?: unknown;
  readonly triggerIncident: unknown;
  /** The ids of the checks that it depends on. */
  readonly dependsOn: readonly string[];
  readonly record: AlertRecord | null;
}

/** The stored keys are older than the names. Replicas of the previous release share the rows, so they stay. */
export type StoredState = Omit<
  AlertState,
  'notified' | 'startedSilenced' | 'verdicts' | 'notifiedAtMs' | 'acknowledged' | 'wait'
> &
  // Left out by earlier releases.
  Partial<Pick<AlertState, 'acknowledged' | 'wait'>> & {
    readonly told: AlertState['notified'];
    readonly isHushed: boolean;
    readonly places: readonly (Omit<LocationVerdict, 'location'> & { readonly place: string })[];
    readonly toldAtMs: number;
  };

type StoredBody = Pick<AlertRecord, 'lastRun' | 'alertId' | 'hasIncident' | 'flapping'> &
  Partial<Pick<AlertRecord, 'acknowledgement' | 'escalatedTo'>> & {
    readonly state: StoredState;
  };

/** Reads a stored state, which a replica of the previous release may have changed. */
export function stateOf({
  told: notified,
  isHushed: startedSilenced,
  places,
  toldAtMs: notifiedAtMs,
  ...state
}: StoredState): AlertState {
  const verdicts = places.map(({ place: location, ...verdict }) => ({ ...verdict, location }));
  const { acknowledged = null, heldAtMs, ...others } = state;
  const wait = state.wait ?? waitOfEarlierRelease({ notified, notifiedAtMs });
  const read = { ...others, notified, startedSilenced, verdicts, notifiedAtMs, acknowledged, wait };
  // The previous release sends the notice that is held, and leaves the field.
  const isHeld = heldAtMs !== undefined && notified !== state.condition;
  return isHeld ? { ...read, heldAtMs } : read;
}

/** A problem that an earlier release sent waits for an acknowledgement since its last notice. */
function waitOfEarlierRelease({
  notified,
  notifiedAtMs,
}: Pick<AlertState, 'notified' | 'notifiedAtMs'>): AlertState['wait'] {
  return notified === null ? null : { worst: notified, sinceMs: notifiedAtMs, isEscalated: false };
}

function storedStateOf(state: AlertState): StoredState {
  const { notified, startedSilenced, verdicts, notifiedAtMs, ...others } = state;
  return {
    ...others,
    told: notified,
    isHushed: startedSilenced,
    places: verdicts.map(({ location, ...verdict }) => ({ ...verdict, place: location })),
    toldAtMs: notifiedAtMs,
  };
}

function recordOf({ state, acknowledgement = null, escalatedTo = [], ...body }: StoredBody) {
  // The previous release leaves the channels of an ended problem in the row.
  const isOfProblem = (state.wait ?? null) !== null;
  const channels = isOfProblem ? escalatedTo : [];
  return { ...body, state: stateOf(state), acknowledgement, escalatedTo: channels };
}

type SubjectRow = Omit<AlertSubject, 'record'> & {
  readonly dueAt: Date | null;
  readonly sslEndsAt: Date | null;
  readonly sslNotifiedDays: number | null;
  readonly body: StoredBody | null;
};

const SUBJECT = `c.account_id, c.id as check_id, c.name, c.check_type,
  c.tags || coalesce(g.tags, '[]'::jsonb) as tags, g.name as group_name,
  c.activated and coalesce(g.activated, true) as is_active,
  c.muted or coalesce(g.muted, false) as is_muted,
  coalesce((c.body -> 'runParallel')::boolean, false) as runs_parallel,
  ${PRIVATE_LOCATIONS_IN_FORCE} as locations,
  c.frequency, c.body -> 'frequencyOffset' as frequency_offset,
  jsonb_build_object('own', c.body -> 'alertSettings',
    'ownUsesGlobal', coalesce((c.body -> 'useGlobalAlertSettings')::boolean, true),
    'group', g.alert_settings,
    'groupUsesGlobal', coalesce(g.use_global_alert_settings, true),
    'account', a.settings) as settings,
  a.escalation_step,
  c.body -> 'triggerIncident' as trigger_incident,
  coalesce(c.body -> 'dependsOn', '[]'::jsonb) as depends_on,
  s.due_at, s.ssl_ends_at, s.ssl_told_days as ssl_notified_days, s.body`;

const SETTINGS = `left join check_groups g on g.id = c.group_id and g.account_id = c.account_id
  left join account_alert_settings a on a.account_id = c.account_id`;

function subjectOf(row: SubjectRow): AlertSubject {
  const { dueAt, sslEndsAt, sslNotifiedDays, body, ...check } = row;
  const notifiedExpiry =
    sslEndsAt === null || sslNotifiedDays === null
      ? null
      : { endsAtMs: sslEndsAt.getTime(), notifiedDays: sslNotifiedDays };
  const dueAtMs = dueAt?.getTime() ?? null;
  return {
    ...check,
    locations: [...new Set(check.locations)],
    record: body === null ? null : { ...recordOf(body), dueAtMs, notifiedExpiry },
  };
}

/**
 * The checks that may cause alerts: the named ones, those that were not passing, and those whose certificate has fewer
 * days left. All others cost one index lookup. Only for checks that `lockSubjects` locks.
 */
export async function findAlertSubjects(
  sql: Sql,
  {
    accountId,
    checkIds,
    named,
    certificates,
  }: {
    readonly accountId: string;
    readonly checkIds: readonly string[];
    readonly named: readonly string[];
    readonly certificates: readonly {
      readonly checkId: string;
      readonly slotMs: number;
      readonly daysRemaining: number;
    }[];
  },
): Promise<readonly AlertSubject[]> {
  const rows = await sql.query<SubjectRow>(
    `with wanted as (
       select unnest($3::text[]) as id
       union
       select s.check_id from check_alert_states s
       where s.account_id = $1 and s.check_id = any($2::text[]) and s.condition <> 'passing'
       union
       select given.id
       from unnest($4::text[], $5::int[], $6::timestamptz[]) as given (id, days, slot)
       left join check_alert_states s on s.account_id = $1 and s.check_id = given.id
       where s.ssl_told_days is null or given.days < s.ssl_told_days or s.ssl_ends_at < given.slot
     )
     select ${SUBJECT}
     from wanted join checks c on c.account_id = $1 and c.id = wanted.id
     left join check_alert_states s on s.account_id = $1 and s.check_id = wanted.id
     ${SETTINGS}
     order by c.id`,
    [
      accountId,
      checkIds,
      named,
      certificates.map(({ checkId }) => checkId),
      certificates.map(({ daysRemaining }) => daysRemaining),
      certificates.map(({ slotMs }) => new Date(slotMs)),
    ],
  );
  return rows.map(subjectOf);
}

/**
 * Locks due checks until the transaction ends, longest due first, so that nobody else changes them or stores their
 * results. Skips checks that another transaction has locked.
 */
export async function claimDueSubjects(
  sql: Sql,
  { atMs, limit }: { readonly atMs: number; readonly limit: number },
): Promise<readonly AlertSubject[]> {
  const rows = await sql.query<SubjectRow>(
    `select ${SUBJECT}
     from check_alert_states s join checks c on c.account_id = s.account_id and c.id = s.check_id
     ${SETTINGS}
     where s.due_at <= $1::timestamptz
     order by s.due_at limit $2::bigint
     for no key update of c, s skip locked`,
    [new Date(atMs), limit],
  );
  return rows.map(subjectOf);
}

/**
 * Replaces the records. Only for checks that the transaction locks: each record is made from the stored one.
 *
 * @param records at most one of each check
 */
export async function putAlertRecords(
  sql: Sql,
  {
    accountId,
    records,
  }: {
    readonly accountId: string;
    readonly records: readonly { readonly checkId: string; readonly record: AlertRecord }[];
  },
): Promise<void> {
  const rows = records.map(
    ({ checkId, record: { state, dueAtMs, notifiedExpiry, ...others } }) => ({
      check_id: checkId,
      condition: state.condition,
      due_at: dueAtMs === null ? null : new Date(dueAtMs),
      ssl_ends_at: notifiedExpiry === null ? null : new Date(notifiedExpiry.endsAtMs),
      ssl_told_days: notifiedExpiry?.notifiedDays ?? null,
      body: { ...others, state: storedStateOf(state) } satisfies StoredBody,
    }),
  );
  await sql.query(
    `insert into check_alert_states
       (account_id, check_id, condition, due_at, ssl_ends_at, ssl_told_days, body)
     select $1, check_id, condition, due_at, ssl_ends_at, ssl_told_days, body
     from jsonb_to_recordset($2::jsonb) as given (check_id text, condition text,
       due_at timestamptz, ssl_ends_at timestamptz, ssl_told_days int, body jsonb)
     on conflict (account_id, check_id) do update set
       condition = excluded.condition, due_at = excluded.due_at,
       ssl_ends_at = excluded.ssl_ends_at, ssl_told_days = excluded.ssl_told_days,
       body = excluded.body`,
    [accountId, jsonText(rows)],
  );
}
