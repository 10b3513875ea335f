import { commonFields } from '../../model/check/check.ts';
import type { Sql } from '../database/store.ts';
import type { IncidentTrigger } from '../incidents/incident-trigger.ts';
import { escalate, withEscalation } from './acknowledgements/escalate.ts';
import { withoutLapsedAcknowledgement } from './acknowledgements/lapsed-acknowledgement.ts';
import { noticeOfAlert } from './delivery/notice-of-alert.ts';
import type { GivenAlert, Judgement } from './judgement-builder.ts';
import type { Outbox } from './notice.ts';
import { type CheckAlert, insertAlerts, saveAcknowledgement } from './sql.ts';
import { putAlertRecords } from './states.sql.ts';

export interface JudgementEffects {
  readonly notices: Outbox;
  readonly incidents: IncidentTrigger;
}

/**
 * Stores the judgements of checks of one account with their alerts, notices and incidents. A
 * reminder is not an alert of its own: only its deliveries are stored.
 */
export async function applyJudgements(
  tx: Sql,
  { notices, incidents }: JudgementEffects,
  {
    accountId,
    judgements,
    atMs,
  }: {
    readonly accountId: string;
    readonly judgements: readonly Judgement[];
    readonly atMs: number;
  },
): Promise<void> {
  const news = judgements.filter(({ isNews }) => isNews);
  const lapsed = new Map(
    news.flatMap((judgement) => withoutLapsedAcknowledgement(judgement, atMs)),
  );
  const escalated = await escalate(tx, { accountId, judgements, atMs });
  if (news.length > 0) {
    const records = news.map(({ subject: { checkId }, record }) => ({
      checkId,
      record: withEscalation(lapsed.get(checkId) ?? record, escalated.get(checkId) ?? []),
    }));
    await putAlertRecords(tx, { accountId, records });
  }
  for (const { alertId: id } of lapsed.values()) {
    if (id !== null) await saveAcknowledgement(tx, { accountId, id, acknowledgement: null });
  }
  const given = judgements.flatMap((judgement) =>
    judgement.alerts.map((alert) => ({ judgement, alert })),
  );
  const alerts = given
    .filter(({ alert }) => alert.reminder === 0)
    .map(({ judgement, alert }) => alertRowOf(judgement, alert, atMs));
  if (alerts.length > 0) await insertAlerts(tx, { accountId, alerts });
  if (given.length > 0) {
    await notices.put(
      tx,
      accountId,
      given.map(({ judgement, alert }) => noticeOfAlert(judgement.subject, alert, atMs)),
      given.flatMap(({ alert: { alertId, escalatedTo } }) =>
        escalatedTo.map((channelId) => ({ alertId, channelId })),
      ),
    );
  }
  for (const judgement of judgements) {
    for (const change of judgement.incidents) {
      await changeIncident(tx, incidents, { accountId, judgement, change, atMs });
    }
  }
}

async function changeIncident(
  tx: Sql,
  incidents: IncidentTrigger,
  {
    accountId,
    judgement,
    change,
    atMs,
  }: {
    readonly accountId: string;
    readonly judgement: Judgement;
    readonly change: 'opened' | 'resolved';
    readonly atMs: number;
  },
): Promise<void> {
  const { checkId, triggerIncident } = judgement.subject;
  if (change === 'resolved') return incidents.resolved(tx, accountId, { checkId, atMs });
  const trigger = commonFields.triggerIncident.safeParse(triggerIncident).data ?? null;
  if (trigger !== null) await incidents.opened(tx, accountId, { checkId, trigger, atMs });
}

function alertRowOf(
  { subject: { checkId, name, checkType } }: Judgement,
  { alertId: id, alertType, facts, flapping, acknowledgement }: GivenAlert,
  atMs: number,
): CheckAlert {
  const { sslDaysRemaining: _, failure: __, startedAtMs, resultId = null, ...run } = facts;
  const [startedAt, createdAt] = [new Date(startedAtMs), new Date(atMs)];
  const of = { id, checkId, name, checkType, alertType, acknowledgement };
  return { ...run, ...of, resultId, flapping: flapping ?? null, startedAt, createdAt };
}
