import { type Acknowledger, isAcknowledgedBy } from '../../../model/alerting/acknowledgement.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { findAlert, type ListedAlert } from '../sql.ts';
import { readAcknowledgeToken } from './acknowledge-link.ts';
import { accountOfAlert, nameOfChannel } from './sql.ts';

/** The alert of a link in a message. */
export interface LinkedAlert {
  readonly accountId: string;
  readonly alert: ListedAlert;
  /** The channel that got the message. */
  readonly by: Acknowledger;
  /** The time zone of the account. */
  readonly timeZone: string;
}

/** Whether a link of the same channel acknowledged the alert: then the link can also undo it. */
export function isTakenByChannel({ alert: { acknowledgement }, by }: LinkedAlert): boolean {
  return isAcknowledgedBy(acknowledgement, by);
}

/** The alerts that links in messages lead to. */
export interface LinkedAlerts {
  /** null if the link is not signed, or its alert or channel does not exist any more. Changes nothing. */
  find(token: string): Promise<LinkedAlert | null>;
}

export function createLinkedAlerts({
  store,
  secrets,
}: {
  readonly store: Store;
  readonly secrets: SecretBox | null;
}): LinkedAlerts {
  return {
    async find(token) {
      const subject = secrets === null ? null : readAcknowledgeToken(secrets, token);
      if (subject === null) return null;
      const { alertId: id, channelId } = subject;
      const account = await accountOfAlert(store, id);
      if (account === null) return null;
      const { accountId, timeZone } = account;
      const name = await nameOfChannel(store, { accountId, channelId });
      const alert = await findAlert(store, { accountId, id });
      if (name === null || alert === null) return null;
      return { accountId, alert, by: { kind: 'channel', id: String(channelId), name }, timeZone };
    },
  };
}
