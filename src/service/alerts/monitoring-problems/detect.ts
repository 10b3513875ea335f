import {
  isOutdated,
  type MonitoringProblem,
  PROBLEM_LIMITS,
} from '../../../model/alerting/monitoring-problems.ts';
import { stableId } from '../../../model/ids.ts';
import { MISSED_REASONS, type MissedReason } from '../../../model/result/missed-slots.ts';
import { HOUR_MS, MINUTE_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { durationText, twoUnitText } from '../../../runtime/text/duration-text.ts';
import { findFirstAccount } from '../../accounts/shared.sql.ts';
import type { Sql } from '../../database/store.ts';
import {
  type FailingChannel,
  type LocationAgents,
  type LocationMissed,
  listFailingChannels,
  listLiveVersions,
  listMissedByLocation,
  listNotableLocations,
  type ProblemLocation,
} from './detect.sql.ts';
import type { DiskSpace } from './disk-space.ts';
import type { FoundProblem } from './sql.ts';

/** What a scan found in all accounts. */
export interface Findings {
  /** Values that begin a problem. */
  readonly bad: readonly FoundProblem[];
  /** The ids of problems whose value neither begins nor ends one. */
  readonly near: readonly string[];
}

/** An earlier scan has found channels that failed before this time. */
const FAILED_WITHIN_MS = HOUR_MS;
const GIB = 2 ** 30;
/** Problems that are detected by what the agents of a location report. */
const OF_AGENTS = ['AGENT_OUTDATED', 'AGENT_CLOCK_OFF', 'RESULTS_WAITING'] as const;

type Finding = FoundProblem & { readonly level: 'bad' | 'near' };

export interface Detection {
  readonly atMs: number;
  /** The version of the service. */
  readonly version: string;
  /** The disk of the embedded database; null without one. */
  readonly disk: DiskSpace | null;
  /** Whether service and agents run on demand, on a machine that may sleep: `vedette up`. */
  readonly isOnDemand: boolean;
}

/** Reasons of missed slots while the agent or its machine was off: on demand, nobody expects runs then. */
const NOT_RUNNING: readonly MissedReason[] = ['agent_stopped', 'agent_asleep', 'unassigned'];

/** Compares the reports of agents, missed slots, deliveries and the disk with PROBLEM_LIMITS. */
export async function detectProblems(
  sql: Sql,
  { atMs, version, disk, isOnDemand }: Detection,
): Promise<Findings> {
  const { clockMs, waitingMs, missedWindowMs: windowMs } = PROBLEM_LIMITS;
  const live = await listLiveVersions(sql, { atMs });
  const locations = await listNotableLocations(sql, {
    atMs,
    versions: live.filter((each) => isOutdated(each, version)),
    clockMs: clockMs.ends,
    waitingMs: waitingMs.ends,
  });
  const missed = await listMissedByLocation(sql, {
    atMs,
    windowMs,
    ignored: isOnDemand ? NOT_RUNNING : [],
  });
  const failing = await listFailingChannels(sql, { sinceMs: atMs - FAILED_WITHIN_MS });
  const account = disk === null ? null : await findFirstAccount(sql);
  const found: readonly Finding[] = [
    ...locations.flatMap((location) => findingsOfAgents(location, version)),
    ...missed.flatMap(findingOfMissed),
    ...failing.map(findingOfChannel),
    ...(disk === null || account === null ? [] : findingOfDisk(account.id, disk)),
  ];
  return {
    bad: found.filter(({ level }) => level === 'bad').map(({ level: _, ...problem }) => problem),
    near: found.filter(({ level }) => level === 'near').map(({ id }) => id),
  };
}

function findingsOfAgents(location: LocationAgents, version: string): readonly Finding[] {
  const { liveAgents, versions, clockAheadMs, clockAgentId } = location;
  const { spoolRecords, spoolOldestMs } = location;
  // Without a live agent, an open problem lasts until one polls again, at most a day. Then it ends without a notice
  // (endProblems).
  if (liveAgents === 0) {
    const kinds = [...OF_AGENTS, 'SLOTS_MISSED'] as const;
    return kinds.map((kind) => ofLocation(location, kind, 'near', ''));
  }
  const { clockMs, waitingMs } = PROBLEM_LIMITS;
  const offMs = Math.abs(clockAheadMs ?? 0);
  const oldestMs = spoolOldestMs ?? 0;
  const found: (Finding | null)[] = [
    versions === null
      ? null
      : ofLocation(
          location,
          'AGENT_OUTDATED',
          'bad',
          `Its agents have version ${versions.toSorted().join(', ')}, the service ${version}. Upgrade them one after the other.`,
        ),
    offMs <= clockMs.ends
      ? null
      : ofLocation(
          location,
          'AGENT_CLOCK_OFF',
          offMs > clockMs.begins ? 'bad' : 'near',
          `The clock of agent ${clockAgentId} is ${durationText(offMs)} ${(clockAheadMs ?? 0) > 0 ? 'ahead of' : 'behind'} that of the service: its slots and the times of its results are off by the same amount. Synchronise the clock of its machine, for example by NTP.`,
        ),
    oldestMs <= waitingMs.ends
      ? null
      : ofLocation(
          location,
          'RESULTS_WAITING',
          oldestMs > waitingMs.begins ? 'bad' : 'near',
          `${countText(spoolRecords ?? 1, 'record')} at its agents ${spoolRecords === 1 ? 'waits' : 'wait'} for the service, the oldest for ${twoUnitText(oldestMs)}: alerts of its checks are late. Check the log of its agents, and the load and the disk of the service.`,
        ),
  ];
  return found.filter((each) => each !== null);
}

function findingOfMissed(location: LocationMissed): readonly Finding[] {
  const { missed, due, reason } = location;
  const { missedShare, missedSlots, missedWindowMs } = PROBLEM_LIMITS;
  const share = missed / Math.max(due, missed);
  if (share <= missedShare.ends) return [];
  const why = Object.entries(MISSED_REASONS).find(([name]) => name === reason)?.[1] ?? '';
  const message = `${countText(missed, 'slot')} of about ${Math.max(due, missed)} in the last ${missedWindowMs / MINUTE_MS} minutes ${missed === 1 ? 'was' : 'were'} not run (${Math.round(share * 100)} %), mostly ${reason}. ${why}`;
  const level = share > missedShare.begins && missed >= missedSlots ? 'bad' : 'near';
  return [ofLocation(location, 'SLOTS_MISSED', level, message.trim())];
}

function ofLocation(
  { accountId, locationId, slug, name }: ProblemLocation,
  kind: MonitoringProblem,
  level: Finding['level'],
  message: string,
): Finding {
  const subject = { kind: 'location', id: locationId, slug, name } as const;
  const key = { accountId, kind, subjectId: locationId };
  return { ...key, id: problemIdOf(key), level, subject, message };
}

function findingOfChannel({ accountId, channel, isFailed, lastError }: FailingChannel): Finding {
  const key = { accountId, kind: 'CHANNEL_FAILING', subjectId: String(channel.id) } as const;
  const message = `The latest notification to it was not delivered after all retries: ${lastError ?? 'the reason is unknown'}. Send a test on the page of the channel, then send the notification again.`;
  return {
    ...key,
    id: problemIdOf(key),
    level: isFailed ? 'bad' : 'near',
    subject: { ...channel, kind: 'channel' },
    message,
  };
}

function findingOfDisk(accountId: string, disk: DiskSpace): readonly Finding[] {
  const level = diskLevel(disk);
  if (level === null) return [];
  const { freeBytes, sizeBytes } = disk;
  const key = { accountId, kind: 'DISK_NEARLY_FULL', subjectId: 'disk' } as const;
  const message = `${(freeBytes / GIB).toFixed(1)} GiB of ${(sizeBytes / GIB).toFixed(1)} GiB are free where DATA_DIR is. The service refuses results when it is full: give it more space, or lower RETENTION_DAYS and ARTIFACTS_MAX_GIB.`;
  return [{ ...key, id: problemIdOf(key), level, subject: { kind: 'disk' }, message }];
}

/** null if the disk has enough space. */
export function diskLevel({ freeBytes, sizeBytes }: DiskSpace): Finding['level'] | null {
  const { diskShare, diskBytes } = PROBLEM_LIMITS;
  const isBelow = (share: number, bytes: number): boolean =>
    freeBytes < share * sizeBytes && freeBytes < bytes;
  if (isBelow(diskShare.begins, diskBytes.begins)) return 'bad';
  return isBelow(diskShare.ends, diskBytes.ends) ? 'near' : null;
}

function problemIdOf({
  accountId,
  kind,
  subjectId,
}: Pick<FoundProblem, 'accountId' | 'kind' | 'subjectId'>): string {
  return stableId('monitoring-problem', accountId, kind, subjectId);
}
