import {
  type Acknowledgement,
  type Acknowledger,
  isAcknowledgedBy,
  isTaken,
} from '../../../model/alerting/acknowledgement.ts';
import {
  acknowledge,
  earlierOf,
  unacknowledge,
} from '../../../model/alerting/alert-state-machine.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { lockCheck } from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Sql, Store } from '../../database/store.ts';
import { conflict, notFound } from '../../errors.ts';
import type { Caller } from '../../http/access/caller.ts';
import { noticeOfAlert } from '../delivery/notice-of-alert.ts';
import { insertDeliveries } from '../delivery/sql.ts';
import { parentsOf } from '../dependencies/parents.ts';
import { contextOf } from '../judge.ts';
import type { Silences } from '../maintenance-silences.ts';
import {
  findAlert,
  type ListedAlert,
  listOpenAcknowledgements,
  saveAcknowledgement,
} from '../sql.ts';
import {
  type AlertRecord,
  type AlertSubject,
  findAlertSubjects,
  putAlertRecords,
} from '../states.sql.ts';
import { listChannelsWithDelivery, lockChannels, nameOfPrincipal } from './sql.ts';

export interface AcknowledgementsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly silences: Silences;
}

/** Acknowledges alerts: src/service/README.md, "Acknowledgement and escalation". */
export interface Acknowledgements {
  /**
   * Acknowledges an open alert: reminders stop, and the channels that were notified of it learn who acknowledged
   * it. An alert that is already acknowledged does not change.
   *
   * @throws ServiceError 404 for an alert that does not exist, 409 for one that is not open
   */
  acknowledge(key: AccountKey, by: Acknowledger): Promise<ListedAlert>;
  /**
   * Undoes an acknowledgement: reminders continue. An alert that is not acknowledged does not change.
   *
   * @param whose `own`: only an acknowledgement by the same one
   * @throws as `acknowledge`, and 409 with the reason `taken` if `own` is asked and somebody else acknowledged it
   */
  unacknowledge(key: AccountKey, by: Acknowledger, whose?: 'own' | 'any'): Promise<ListedAlert>;
  /** The acknowledgements of the open alerts of these checks, by check. */
  ofChecks(
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, Acknowledgement>>;
  /** The caller of a request, with a name for people. */
  acknowledgerOf(caller: Pick<Caller, 'accountId' | 'by'>): Promise<Acknowledger>;
}

/** An open alert and its check, which the transaction locks. */
interface OpenAlert {
  readonly alert: ListedAlert;
  readonly subject: AlertSubject;
  readonly record: AlertRecord;
}

export function createAcknowledgements(parts: AcknowledgementsParts): Acknowledgements {
  const { store, clock, silences } = parts;

  async function changed(
    key: AccountKey,
    by: Acknowledger,
    change: 'acknowledge' | 'unacknowledge' | 'unacknowledge-own',
  ): Promise<ListedAlert> {
    const isAcknowledging = change === 'acknowledge';
    return store.transaction(async (tx) => {
      const open = await lockOpenAlert(tx, key);
      const { acknowledgement: before } = open.alert;
      if (change === 'unacknowledge-own' && !isAcknowledgedBy(before, by)) {
        throw conflict(
          'Somebody else has acknowledged the alert, or its acknowledgement was undone',
          {
            reason: 'taken',
          },
        );
      }
      const isAsAsked = [before !== null, isTaken(open.record.state)].every(
        (each) => each === isAcknowledging,
      );
      if (isAsAsked) return open.alert;
      const atMs = clock.wallMs();
      const acknowledgement = isAcknowledging ? { by, atMs } : null;
      await save(tx, key, open, acknowledgement, atMs);
      await notify(tx, key, open, { by, isUndone: !isAcknowledging }, atMs);
      return readAlert(tx, key);
    });
  }

  async function save(
    tx: Sql,
    { accountId, id }: AccountKey,
    { subject, record }: OpenAlert,
    acknowledgement: Acknowledgement | null,
    atMs: number,
  ): Promise<void> {
    const isSilenced = await silences.from(tx, accountId, atMs);
    const parents = await parentsOf(tx, accountId, [subject]);
    const context = contextOf(subject, { atMs, isSilenced, parents });
    const flapsAs = record.flapping?.started?.as ?? null;
    const { state, ...step } =
      acknowledgement === null
        ? unacknowledge(record.state, context)
        : acknowledge(record.state, context, flapsAs);
    // A check that flaps is also due when it may be calm.
    const dueAtMs = flapsAs !== null ? earlierOf(step.dueAtMs, record.dueAtMs) : step.dueAtMs;
    const changedRecord = { ...record, state, dueAtMs, acknowledgement };
    const records = [{ checkId: subject.checkId, record: changedRecord }];
    await putAlertRecords(tx, { accountId, records });
    await saveAcknowledgement(tx, { accountId, id, acknowledgement });
  }

  /** Notifies the channels that were notified of the alert, whichever notices they select. */
  async function notify(
    tx: Sql,
    { accountId, id: alertId }: AccountKey,
    { alert: { alertType }, subject, record: { state, lastRun } }: OpenAlert,
    acknowledgement: { readonly by: Acknowledger; readonly isUndone: boolean },
    atMs: number,
  ): Promise<void> {
    if (lastRun === null) return;
    const notified = await listChannelsWithDelivery(tx, { accountId, alertIds: [alertId] });
    // A channel whose digest with the alert was not sent yet is not notified of the acknowledgement.
    const ids = notified.filter(({ isInDigest }) => !isInDigest).map(({ channelId }) => channelId);
    const channels = await lockChannels(tx, { accountId, ids });
    const given = { alertId, alertType, reminder: 0, sinceMs: state.sinceMs, facts: lastRun };
    const notice = { ...noticeOfAlert(subject, given, atMs), acknowledgement };
    const deliveries = channels.map(({ channelId }) => ({
      id: parts.ids(),
      channelId,
      checkId: subject.checkId,
      alertId,
      alertType,
      reminder: 0,
      notice,
    }));
    await insertDeliveries(tx, { accountId, deliveries, atMs });
  }

  return {
    acknowledge: (key, by) => changed(key, by, 'acknowledge'),
    unacknowledge: (key, by, whose = 'any') =>
      changed(key, by, whose === 'own' ? 'unacknowledge-own' : 'unacknowledge'),

    async ofChecks(accountId, checkIds) {
      const rows = await listOpenAcknowledgements(store, { accountId, checkIds });
      return new Map(rows.map(({ checkId, acknowledgement }) => [checkId, acknowledgement]));
    },

    async acknowledgerOf({ accountId, by: { kind, id } }) {
      const name = await nameOfPrincipal(store, { accountId, kind, id });
      return { kind, id, name: name ?? id };
    },
  };
}

async function readAlert(sql: Sql, key: AccountKey): Promise<ListedAlert> {
  const found = await findAlert(sql, key);
  if (found === null) throw notFound('alert');
  return found;
}

/**
 * Locks the check, as every change of its alert state does.
 *
 * @throws ServiceError 404 for an alert that does not exist, 409 for one that is not open
 */
async function lockOpenAlert(tx: Sql, key: AccountKey): Promise<OpenAlert> {
  const { accountId } = key;
  const { checkId } = await readAlert(tx, key);
  await lockCheck(tx, { accountId, id: checkId });
  const asked = { accountId, checkIds: [checkId], named: [checkId], certificates: [] };
  const [subject] = await findAlertSubjects(tx, asked);
  const alert = await readAlert(tx, key);
  const record = subject?.record ?? null;
  if (subject === undefined || record === null || !alert.isOpen) {
    throw conflict(
      'The alert is not open: its check has recovered, has a newer alert, or is deactivated',
      { reason: 'closed' },
    );
  }
  return { alert, subject, record };
}
