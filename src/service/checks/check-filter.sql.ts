import type { StoredCheckType } from '../../model/enums.ts';
import type { CheckState } from '../../model/result/check-state.ts';
import type { Without } from '../http/resources/check-parameters.ts';
import { CHECK_SILENT_SINCE } from '../private-locations/shared.sql.ts';
import { CHECK_RUN_LOCATIONS } from './locations-in-force.sql.ts';

/** Selects the checks of an account that a list contains. */
export interface CheckFilter {
  readonly accountId: string;
  /** Any of these; empty: no filter. */
  readonly tags: readonly string[];
  readonly types: readonly StoredCheckType[];
  readonly states: readonly CheckState[];
  /** A part of the name, case-insensitive. */
  readonly search: string | null;
  /** Whether the check itself is activated; its group does not count. */
  readonly activated: boolean | null;
  readonly groupId: number | null;
  /** A public location, or the slug of a private one. */
  readonly location: string | null;
  /** Whether the state is unknown because no agent of its locations polls. */
  readonly silent: boolean | null;
  /** All of these; empty: no filter. */
  readonly without: readonly Without[];
}

/**
 * The tables of the columns and conditions below: checks, their groups, their statuses and the silence of
 * their locations.
 */
export const CHECKS_WITH_STATUS = `checks c
  left join check_groups g on g.id = c.group_id and g.account_id = c.account_id
  left join check_statuses s on s.account_id = c.account_id and s.check_id = c.id
  -- Without the offset it would be computed for each use.
  cross join lateral (select ${CHECK_SILENT_SINCE} as since offset 0) silence`;

const IS_PAUSED = 'not (c.activated and coalesce(g.activated, true))';

/**
 * The state according to the runs; null if no run judged the target. If the state is outdated and has not been
 * computed yet, as after an upgrade, it is the state of the last run.
 */
const RUN_STATE = `coalesce(s.state, case when s.state_version is null and s.has_errors = false then
  case when s.has_failures then 'failing' when s.is_degraded then 'degraded' else 'passing' end end)`;

/** The state of a check (src/model/result/check-state.ts). Call `OutdatedStates.refresh` before it is read. */
export const CHECK_STATE = `case when ${IS_PAUSED} then 'paused'
  when silence.since is not null then 'unknown' else coalesce(${RUN_STATE}, 'unknown') end`;

/** One of UNKNOWN_REASONS; null in another state. */
export const CHECK_UNKNOWN_REASON = `case when ${IS_PAUSED} then null
  when silence.since is not null then 'location_silent'
  when ${RUN_STATE} is null then 'no_result' end`;

/**
 * When the state began; null if a release that did not store it deactivated the check, and while an
 * outdated state could not be refreshed.
 */
export const CHECK_STATE_SINCE = `case when ${IS_PAUSED} then least(c.paused_since, g.paused_since)
  when silence.since is not null then greatest(silence.since, c.created_at)
  when ${RUN_STATE} is null then c.created_at else s.since end`;

const LACKS: Readonly<Record<Without, string>> = {
  group: 'c.group_id is null',
  tag: `c.tags = '[]'`,
  location: `${CHECK_RUN_LOCATIONS} = '[]'`,
};

/** The filter as SQL, for CHECKS_WITH_STATUS. */
export function checksMatching(filter: CheckFilter): {
  readonly condition: string;
  readonly params: readonly unknown[];
} {
  const params: unknown[] = [filter.accountId];
  const conditions = ['c.account_id = $1'];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    params.push(value);
    conditions.push(condition(`$${params.length}`));
  };
  const { tags, types, states, search, activated, groupId, location, silent, without } = filter;
  if (tags.length > 0) where((given) => `c.tags ?| ${given}::text[]`, tags);
  if (types.length > 0) where((given) => `c.check_type = any(${given}::text[])`, types);
  if (states.length > 0) where((given) => `${CHECK_STATE} = any(${given}::text[])`, states);
  if (search !== null) where((text) => `c.name ~ ${text}`, anyCase(search));
  if (activated !== null) where((given) => `c.activated = ${given}::boolean`, activated);
  if (groupId !== null) where((given) => `c.group_id = ${given}::bigint`, groupId);
  if (location !== null) where((given) => `(${CHECK_RUN_LOCATIONS}) ? ${given}`, location);
  if (silent !== null) {
    const isSilent = `${CHECK_UNKNOWN_REASON} is not distinct from 'location_silent'`;
    where((given) => `(${isSilent}) = ${given}::boolean`, silent);
  }
  for (const lacking of new Set(without)) conditions.push(`(${LACKS[lacking]})`);
  return { condition: conditions.join(' and '), params };
}

/**
 * Returns a case-insensitive regular expression (PostgreSQL manual 9.7.3) for a text. `lower` of PostgreSQL
 * cannot be used: it converts only letters of the locale, which in "C" are the ASCII letters.
 */
function anyCase(text: string): string {
  return Array.from(text, (character) => {
    const forms = [character, character.toLowerCase(), character.toUpperCase()];
    const codes = forms.filter((form) => [...form].length === 1).map(codeEscape);
    return `[${[...new Set(codes)].join('')}]`;
  }).join('');
}

function codeEscape(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
