import type { NotificationAttempt } from '../../model/alerting/notification-attempt.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Allowance } from '../accounts/allowance.ts';
import type { Store } from '../database/store.ts';
import type { IncidentTrigger } from '../incidents/incident-trigger.ts';
import type { LinkBase } from '../outgoing/link-base.ts';
import type { OutgoingConfig } from '../outgoing/outgoing-config.ts';
import {
  type AccountAlertSettingsFeature,
  createAccountAlertSettings,
} from './account-settings/account-alert-settings.ts';
import {
  type Acknowledgements,
  createAcknowledgements,
} from './acknowledgements/acknowledgements.ts';
import { createLinkedAlerts, type LinkedAlerts } from './acknowledgements/linked-alerts.ts';
import { type AlertChannels, createAlertChannels } from './channels/alert-channels.ts';
import { type CheckAlerts, createCheckAlerts } from './check-alerts.ts';
import { type AlertDeliveries, createAlertDeliveries } from './delivery/delivery-log.ts';
import { createNoticeSender } from './delivery/notice-sender.ts';
import { createOutbox } from './delivery/outbox.ts';
import { type DeliveryWorkerParts, runDeliveryWorker } from './delivery/worker.ts';
import { type AlertEngine, createAlertEngine } from './engine.ts';
import { createLocationAlerts, type LocationAlerts } from './location-alerts.ts';
import { maintenanceSilences } from './maintenance-silences.ts';
import { createMessagePreviews, type MessagePreviews } from './message-preview/message-preview.ts';
import { readDiskSpace } from './monitoring-problems/disk-space.ts';
import {
  createMonitoringProblems,
  type MonitoringProblems,
} from './monitoring-problems/monitoring-problems.ts';
import { type AlertRecipients, createAlertRecipients } from './recipients/recipients.ts';
import { keepRepeating } from './repeats/repeat-open-alerts.ts';

export interface AlertFeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly allowance: Allowance;
  readonly secrets: SecretBox | null;
  readonly incidentTrigger: IncidentTrigger;
  readonly delivery: OutgoingConfig;
  /** The base of links in messages. */
  readonly linkBase: LinkBase;
  /** See DeliveryWorkerParts. */
  readonly onAttempt?: (attempt: NotificationAttempt) => void;
  /** See MonitoringProblemsParts. */
  readonly isOnDemand?: boolean | undefined;
  /** The folder of the embedded database and of artifacts; null for none. */
  readonly dataDir: string | null;
  /** Whole days, of alerts and of the delivery log. */
  readonly retentionDays: number;
}

export interface AlertFeatures {
  readonly acknowledgements: Acknowledgements;
  readonly alertChannels: AlertChannels;
  readonly alertDeliveries: AlertDeliveries;
  /** Deliveries that ended in this process. */
  readonly alertDeliveryCounts: Readonly<Record<'sent' | 'failed', number>>;
  /** The same of open alerts that were sent again, which the others leave out. */
  readonly alertRepeatCounts: Readonly<Record<'sent' | 'failed', number>>;
  readonly alertEngine: AlertEngine;
  readonly alertRecipients: AlertRecipients;
  readonly alertSettings: AccountAlertSettingsFeature;
  readonly checkAlerts: CheckAlerts;
  readonly linkedAlerts: LinkedAlerts;
  readonly locationAlerts: LocationAlerts;
  readonly messagePreviews: MessagePreviews;
  readonly monitoringProblems: MonitoringProblems;
  /** Each runs until the signal aborts: thresholds by time, reminders, deliveries, repeats, retention. */
  readonly alertKeepers: readonly ((signal: AbortSignal) => Promise<void>)[];
}

export function createAlertFeatures(parts: AlertFeatureParts): AlertFeatures {
  const { delivery, incidentTrigger: incidents } = parts;
  const sender = createNoticeSender(delivery, parts);
  const notices = createOutbox();
  const alertEngine = createAlertEngine({
    ...parts,
    notices,
    incidents,
    silences: maintenanceSilences,
  });
  const { dataDir } = parts;
  const monitoringProblems = createMonitoringProblems({
    ...parts,
    silences: maintenanceSilences,
    readDisk: async () => (dataDir === null ? null : readDiskSpace(dataDir)),
    isOnDemand: parts.isOnDemand ?? false,
    hasDatabaseOnDisk: parts.store.kind === 'pglite',
  });
  const checkAlerts = createCheckAlerts(parts);
  const alertDeliveries = createAlertDeliveries(parts);
  const alertDeliveryCounts = { sent: 0, failed: 0 };
  const alertRepeatCounts = { sent: 0, failed: 0 };
  const onFinished: DeliveryWorkerParts['onFinished'] = (result, { isRepeat }) => {
    (isRepeat ? alertRepeatCounts : alertDeliveryCounts)[result] += 1;
  };
  return {
    acknowledgements: createAcknowledgements({ ...parts, silences: maintenanceSilences }),
    alertChannels: createAlertChannels({ ...parts, sender }),
    alertDeliveries,
    alertDeliveryCounts,
    alertRepeatCounts,
    alertEngine,
    alertRecipients: createAlertRecipients({ ...parts, silences: maintenanceSilences }),
    alertSettings: createAccountAlertSettings(parts),
    checkAlerts,
    linkedAlerts: createLinkedAlerts(parts),
    locationAlerts: createLocationAlerts({ silences: maintenanceSilences }),
    messagePreviews: createMessagePreviews(parts),
    monitoringProblems,
    alertKeepers: [
      alertEngine.maintain,
      checkAlerts.maintain,
      alertDeliveries.maintain,
      monitoringProblems.maintain,
      (signal) => keepRepeating(parts, signal),
      (signal) => runDeliveryWorker({ ...parts, sender, onFinished }, signal).finally(sender.close),
    ],
  };
}
