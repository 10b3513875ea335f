import { MINUTE_MS } from '../../../model/time-units.ts';
import type { Sql } from '../../database/store.ts';
import type { MeasuringCheck } from './condition.ts';
import type { KnownWindow, MaintenanceTimes } from './maintenance.ts';
import {
  checkIdsWithTags,
  checkStatesOf,
  failedLocationsOf,
  type MeasuredService,
  type StoredCheckState,
} from './sql.ts';

export interface MeasuredCheck extends MeasuringCheck {
  readonly id: string;
  readonly tags: readonly string[];
  /** The time that one run stands for, in milliseconds; one minute for a heartbeat. */
  readonly runMs: number;
  /** The maintenance windows that concern the check. */
  readonly windows: readonly KnownWindow[];
}

/** A service with the checks and heartbeats that measure it. */
export interface Measurement {
  readonly service: MeasuredService;
  readonly checks: readonly MeasuredCheck[];
  /** Whether it has checks or tags: without them only incidents decide. */
  readonly isMeasured: boolean;
  /** The windows that concern it by its tags. */
  readonly ownWindows: readonly KnownWindow[];
  readonly responseTimeMs: number | null;
}

/** Bounds a statement. */
const CHECKS_AT_ONCE = 1_000;
/** The state of a check becomes unknown after this many slots without a run that judged the target. */
const STALE_SLOTS = 3;
const STALE_MS = 600_000;

export async function readMeasurements(
  sql: Sql,
  {
    accountId,
    services,
    maintenance,
    nowMs,
  }: {
    readonly accountId: string;
    readonly services: readonly MeasuredService[];
    readonly maintenance: MaintenanceTimes;
    readonly nowMs: number;
  },
): Promise<readonly Measurement[]> {
  const tags = [...new Set(services.flatMap(({ checkTags }) => checkTags))];
  const ids = new Set(services.flatMap(({ checkIds }) => checkIds));
  for (const id of await checkIdsWithTags(sql, { accountId, tags })) ids.add(id);
  const states: StoredCheckState[] = [];
  for (const batch of inBatches([...ids])) {
    states.push(...(await checkStatesOf(sql, { accountId, ids: batch })));
  }
  const byId = new Map(states.map((state) => [state.id, state]));
  const idsByTag = idsByEachTag(states, new Set(tags));
  const checkIdsOf = ({ checkIds, checkTags }: MeasuredService): ReadonlySet<string> =>
    new Set([...checkIds, ...checkTags.flatMap((tag) => idsByTag.get(tag) ?? [])]);
  const byLocations = services
    .filter(({ failureRule }) => failureRule === 'LOCATIONS')
    .flatMap((service) => [...checkIdsOf(service)].flatMap((id) => byId.get(id) ?? []));
  const failedAtMs = await readFailedLocations(sql, accountId, byLocations, nowMs);
  const checks = new Map(
    states.map((state): [string, MeasuredCheck] => [
      state.id,
      {
        ...state,
        sinceMs: state.since?.getTime() ?? null,
        judgedAtMs: state.judgedAt?.getTime() ?? null,
        staleAfterMs: staleAfterMs(state),
        runMs: runMs(state),
        failedAtMs: failedAtMs.get(state.id) ?? [],
        windows: maintenance.windowsFor(state.tags),
      },
    ]),
  );
  return services.map((service) => {
    const own = [...checkIdsOf(service)];
    return {
      service,
      checks: own.flatMap((id) => checks.get(id) ?? []),
      isMeasured: own.length > 0 || service.checkTags.length > 0,
      ownWindows: service.checkTags.length > 0 ? maintenance.windowsFor(service.checkTags) : [],
      responseTimeMs: averageResponseTime(own.flatMap((id) => byId.get(id) ?? [])),
    };
  });
}

function* inBatches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += CHECKS_AT_ONCE) {
    yield items.slice(at, at + CHECKS_AT_ONCE);
  }
}

function idsByEachTag(
  states: readonly StoredCheckState[],
  tags: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const state of states) {
    for (const tag of state.tags) {
      if (!tags.has(tag)) continue;
      const ofTag = ids.get(tag);
      if (ofTag === undefined) ids.set(tag, [state.id]);
      else ofTag.push(state.id);
    }
  }
  return ids;
}

/** With rotating locations, allows for one rotation over all of them. */
function staleAfterMs({ periodMs, runParallel, locations }: StoredCheckState): number {
  const slots = STALE_SLOTS * (runParallel ? 1 : Math.max(1, locations));
  return Math.max(STALE_MS, slots * periodMs);
}

function runMs({ isHeartbeat, periodMs, runParallel, locations }: StoredCheckState): number {
  if (isHeartbeat) return MINUTE_MS;
  return runParallel ? periodMs / Math.max(1, locations) : periodMs;
}

async function readFailedLocations(
  sql: Sql,
  accountId: string,
  checks: readonly StoredCheckState[],
  nowMs: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const failedAtMs = new Map<string, number[]>();
  const recent = [...new Set(checks)]
    .filter(({ isHeartbeat }) => !isHeartbeat)
    .map((check) => ({ id: check.id, sinceMs: nowMs - staleAfterMs(check) }));
  for (const batch of inBatches(recent)) {
    for (const { checkId, slot } of await failedLocationsOf(sql, { accountId, checks: batch })) {
      failedAtMs.set(checkId, [...(failedAtMs.get(checkId) ?? []), slot.getTime()]);
    }
  }
  return failedAtMs;
}

function averageResponseTime(checks: readonly StoredCheckState[]): number | null {
  const times = checks.flatMap(({ state, lastResponseTime: time }) =>
    time !== null && (state === 'passing' || state === 'degraded') ? [time] : [],
  );
  if (times.length === 0) return null;
  return times.reduce((sum, time) => sum + time, 0) / times.length;
}
