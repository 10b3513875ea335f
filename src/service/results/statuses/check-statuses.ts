import type { Acknowledgement } from '../../../model/alerting/acknowledgement.ts';
import { CHECK_STATES, type CheckState } from '../../../model/result/check-state.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Acknowledgements } from '../../alerts/acknowledgements/acknowledgements.ts';
import type { Silences } from '../../alerts/maintenance-silences.ts';
import type { Availability, IntervalWithMissed } from '../../analytics/rollups/availability.ts';
import type { CheckFilter } from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { unstorableTexts } from '../../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import { type BreakdownEntry, breakDownStates } from './breakdown.sql.ts';
import type { BreakdownBy } from './breakdown-by.ts';
import { type CheckWithStatus, countStates, findStatus, listStatuses } from './list.sql.ts';
import type { OutdatedStates } from './outdated-states.ts';
import type { StatusOrder } from './sort-names.ts';

/** The status of a check with data from its results of the last days. */
export interface StatusView extends CheckWithStatus {
  /** Milliseconds; null without a complete hour of passed runs. */
  readonly usualResponseTime: number | null;
  /** The last 24 hours by quarter hours, the current one last; null if not requested. */
  readonly cells: readonly IntervalWithMissed[] | null;
  /** Whether a maintenance window silences or pauses the check now. */
  readonly inMaintenance: boolean;
  /** Who has acknowledged the open alert of the check; null for nobody. */
  readonly acknowledgement: Acknowledgement | null;
}

export interface CheckStatusesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly silences: Silences;
  readonly acknowledgements: Pick<Acknowledgements, 'ofChecks'>;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
  readonly availability: Pick<Availability, 'quarterHours' | 'usualResponseTimes'>;
}

export type StatusFilter = Omit<CheckFilter, 'accountId'>;
export type StateCounts = Readonly<Record<CheckState, number>>;

/** Maximum number of entries: of more tags, groups or locations, the most urgent ones are returned. */
export const MAX_BREAKDOWN = 500;

export interface StateBreakdown {
  readonly entries: readonly BreakdownEntry[];
  readonly omitted: number;
}

/** The current status of checks: README.md. */
export interface CheckStatuses {
  /**
   * null until a run has ended.
   *
   * @throws ServiceError 404 for a check that does not exist
   */
  get(key: AccountKey, options: { readonly withCells: boolean }): Promise<StatusView | null>;
  /** All checks that match, also those that never ran. */
  list(
    accountId: string,
    query: Page & StatusFilter & { readonly order: StatusOrder; readonly withCells: boolean },
  ): Promise<readonly StatusView[]>;
  /** How many of the checks that match are in each state. */
  count(accountId: string, filter: StatusFilter): Promise<StateCounts>;
  /** Counts by tag, group or location, the most urgent first, at most MAX_BREAKDOWN. */
  breakDown(accountId: string, by: BreakdownBy, filter: StatusFilter): Promise<StateBreakdown>;
}

export function createCheckStatuses({
  store,
  clock,
  silences,
  acknowledgements,
  outdatedStates,
  availability,
}: CheckStatusesParts): CheckStatuses {
  /** No name, tag or location contains such a text, and PostgreSQL would refuse it. */
  const matchesNothing = ({ tags, search, location }: StatusFilter): boolean =>
    unstorableTexts([...tags, search, location]).length > 0;

  async function viewsOf(
    accountId: string,
    found: readonly CheckWithStatus[],
    withCells: boolean,
  ): Promise<readonly StatusView[]> {
    const checkIds = found.map(({ checkId }) => checkId);
    if (checkIds.length === 0) return [];
    const usual = await availability.usualResponseTimes(accountId, checkIds);
    const cells = withCells ? await availability.quarterHours(accountId, checkIds) : null;
    const atMs = clock.wallMs();
    const isSilenced = await silences.from(store, accountId, atMs);
    const taken = await acknowledgements.ofChecks(accountId, checkIds);
    return found.map((status) => ({
      ...status,
      inMaintenance: isSilenced([...status.tags, ...status.groupTags], atMs),
      acknowledgement: taken.get(status.checkId) ?? null,
      usualResponseTime: usual.get(status.checkId) ?? null,
      cells: cells?.get(status.checkId) ?? null,
    }));
  }

  return {
    async get(key, { withCells }) {
      await outdatedStates.refresh({ accountId: key.accountId, checkId: key.id });
      const found = await findStatus(store, key);
      if (found === null) throw notFound('check');
      if (!found.hasStatus) return null;
      const [view] = await viewsOf(key.accountId, [found], withCells);
      return view ?? null;
    },

    async list(accountId, { withCells, ...query }) {
      if (matchesNothing(query)) return [];
      await outdatedStates.refresh({ accountId, checkId: null });
      const range = rangeOf(query);
      const found = await listStatuses(store, { accountId, ...query, range });
      return viewsOf(accountId, found, withCells);
    },

    async count(accountId, filter) {
      let counts: ReadonlyMap<CheckState, number> = new Map();
      if (!matchesNothing(filter)) {
        await outdatedStates.refresh({ accountId, checkId: null });
        counts = await countStates(store, { accountId, ...filter });
      }
      const entries = CHECK_STATES.map((state) => [state, counts.get(state) ?? 0]);
      return Object.fromEntries(entries) as StateCounts;
    },

    async breakDown(accountId, by, filter) {
      if (matchesNothing(filter)) return { entries: [], omitted: 0 };
      await outdatedStates.refresh({ accountId, checkId: null });
      const query = { accountId, ...filter, by, limit: MAX_BREAKDOWN };
      const { entries, total } = await breakDownStates(store, query);
      return { entries, omitted: total - entries.length };
    },
  };
}
