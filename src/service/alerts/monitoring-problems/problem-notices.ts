import { PROBLEM_RULES } from '../../../model/alerting/monitoring-problems.ts';
import {
  type NoticePreferences,
  type ProblemPreferences,
  wantsNotice,
  wantsProblem,
} from '../../../model/alerting/notice-preferences.ts';
import { stableId } from '../../../model/ids.ts';
import type { Sql } from '../../database/store.ts';
import { lockChannelsShared } from '../channels/sql.ts';
import { insertDeliveries } from '../delivery/sql.ts';
import { listChannelsWithAnyDelivery, listLocationSubscribers } from '../location-alerts.sql.ts';
import type { Silences } from '../maintenance-silences.ts';
import type { AlertNotice } from '../notice.ts';
import { type EndedProblem, listChannelsOfAccount, type StoredProblem } from './sql.ts';
import { subjectName } from './subject.ts';

/**
 * Notices of problems of monitoring itself: one to each channel when a problem begins, and one when it
 * ends. Stored in the transaction that begins or ends it.
 */
export interface ProblemNotices {
  /**
   * Notifies the channels that want the notice: for a location those with a subscription to one of its checks that is
   * neither muted nor in a maintenance window, otherwise all that do not fail. Notifies no channel twice.
   *
   * @returns whether to call it again, because a maintenance window silences a channel, or all that want the notice
   *   fail
   */
  begun(tx: Sql, problem: StoredProblem, atMs: number): Promise<boolean>;
  /**
   * Notifies the channels that were notified of the problem and want recoveries, unless it is unknown whether it is
   * over.
   */
  ended(tx: Sql, problem: EndedProblem, atMs: number): Promise<void>;
}

type Recipient = NoticePreferences &
  ProblemPreferences & {
    readonly channelId: number;
    /** For subscribers of a location: the tags of their checks. */
    readonly tags?: readonly string[];
    /** For channels of the account. */
    readonly isFailing?: boolean;
  };

export function createProblemNotices({
  silences,
}: {
  readonly silences: Silences;
}): ProblemNotices {
  return {
    async begun(tx, problem, atMs) {
      const { accountId, kind } = problem;
      const candidates = await recipientsOf(tx, problem);
      const all = candidates.filter((channel) => wantsProblem(channel, kind));
      const wanted = all.filter(({ isFailing }) => isFailing !== true);
      // Somebody must be notified, even if only once a channel delivers again.
      if (wanted.length === 0) return all.length > 0;
      const isSilenced = await silences.from(tx, accountId, atMs);
      const unsilenced = wanted.filter(({ tags }) => tags === undefined || !isSilenced(tags, atMs));
      await notify(tx, problem, unsilenced, noticeOf(problem, 'begun', atMs));
      const notified = new Set(unsilenced.map(({ channelId }) => channelId));
      return wanted.some(({ channelId }) => !notified.has(channelId));
    },

    async ended(tx, problem, atMs) {
      if (!problem.isKnown) return;
      const { accountId } = problem;
      const alertId = alertIdOf(problem, 'begun');
      const notified = await listChannelsWithAnyDelivery(tx, { accountId, alertId });
      const notice = noticeOf(problem, 'ended', atMs);
      const wanted = notified.filter((channel) => wantsNotice(channel, notice));
      await notify(tx, problem, wanted, notice);
    },
  };
}

async function recipientsOf(
  tx: Sql,
  { accountId, subject }: StoredProblem,
): Promise<readonly Recipient[]> {
  if (subject.kind === 'location') {
    return listLocationSubscribers(tx, { accountId, locationId: subject.id });
  }
  const channels = await listChannelsOfAccount(tx, { accountId });
  return channels.filter(({ channelId }) => subject.kind !== 'channel' || channelId !== subject.id);
}

async function notify(
  tx: Sql,
  { accountId }: StoredProblem,
  channels: readonly { readonly channelId: number }[],
  notice: AlertNotice,
): Promise<void> {
  const ids = [...new Set(channels.map(({ channelId }) => channelId))];
  const existing = await lockChannelsShared(tx, { accountId, ids });
  const { alertId, alertType, atMs, reminder, check } = notice;
  const deliveries = existing.map((channelId) => ({
    id: stableId('delivery', accountId, channelId, alertId, reminder),
    channelId,
    // The end is sent after the beginning.
    checkId: check.id,
    alertId,
    alertType,
    reminder,
    notice,
  }));
  await insertDeliveries(tx, { accountId, deliveries, atMs });
}

/** Each replica computes the same id, so channels are notified once of a problem. */
function alertIdOf({ id, since }: StoredProblem, what: 'begun' | 'ended'): string {
  return stableId('monitoring-problem', what, id, since.getTime());
}

function noticeOf(problem: StoredProblem, what: 'begun' | 'ended', atMs: number): AlertNotice {
  const { id, kind, subject, message, since } = problem;
  const isWarning = PROBLEM_RULES[kind].severity === 'warning';
  const begins = isWarning ? 'ALERT_DEGRADED' : 'ALERT_FAILURE';
  const ends = isWarning ? 'ALERT_DEGRADED_RECOVERY' : 'ALERT_RECOVERY';
  return {
    alertId: alertIdOf(problem, what),
    alertType: what === 'begun' ? begins : ends,
    atMs,
    problem: { kind, subject },
    // Replicas of the previous release show this check. All notices of the problem have its id.
    check: { id, name: subjectName(subject), checkType: 'URL', tags: [], groupName: null },
    runLocation: subject.kind === 'location' ? subject.slug : '',
    responseTime: 0,
    error: what === 'begun' ? message : null,
    statusCode: null,
    startedAtMs: since.getTime(),
    sslDaysRemaining: null,
    reminder: 0,
  };
}
