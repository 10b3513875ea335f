import {
  type AlertSettings,
  alertSettingsSchema,
  escalationStepSchema,
  wholeAlertSettings,
} from '../../../model/alerting/alert-settings.ts';
import { settingsInForce } from '../../../model/alerting/alert-settings-in-force.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { AccountKey } from '../../database/account-key.ts';
import type { Sql, Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import type { OutgoingConfig } from '../../outgoing/outgoing-config.ts';
import { type DependentChecks, readDirectDependents } from '../dependencies/dependents.sql.ts';
import { parentsOf } from '../dependencies/parents.ts';
import type { Silences } from '../maintenance-silences.ts';
import { type AlertSubject, findAlertSubjects } from '../states.sql.ts';
import { type CurrentProblem, currentProblemOf } from './current-problem.ts';
import {
  countRecipients,
  listChannels,
  listChecksWithoutRecipients,
  listRecipients,
  type Recipient,
} from './sql.ts';

export interface AlertRecipientsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly silences: Silences;
  readonly delivery: OutgoingConfig;
}

/** The kinds of notifications of a check. */
export const NOTIFICATIONS = ['FAILURE', 'DEGRADED', 'RECOVERY', 'CERTIFICATE'] as const;
export type Notification = (typeof NOTIFICATIONS)[number];

/** Why nobody is notified now. */
export const SILENCE_REASONS = [
  'NOT_ACTIVATED',
  'MUTED',
  'MAINTENANCE_WINDOW',
  'PARENT_FAILS',
  'NO_CHANNEL',
] as const;
export type SilenceReason = (typeof SILENCE_REASONS)[number];

export interface AlertRecipient {
  readonly channel: Recipient['channel'];
  /** Whether the subscription is. */
  readonly activated: boolean;
  readonly notifications: readonly Notification[];
  /** One sentence. */
  readonly reason: string;
  /** Why deliveries to it will fail; null if no reason is known. */
  readonly problem: string | null;
}

export interface CheckRecipients {
  /** What is wrong with the check now; null if it passes, or never ran. */
  readonly problem: CurrentProblem | null;
  /** The checks that depend on it: while it fails, their alerts wait. */
  readonly dependents: DependentChecks;
  readonly settings: AlertSettings;
  readonly settingsOf: 'CHECK' | 'GROUP' | 'ACCOUNT';
  /** Empty if somebody would be notified of a failure now. */
  readonly silences: readonly { readonly code: SilenceReason; readonly message: string }[];
  readonly recipients: readonly AlertRecipient[];
  /** How many more there are. */
  readonly omitted: number;
  /** Who else is notified if nobody acknowledges an alert; null for nobody. */
  readonly escalation: {
    readonly minutes: number;
    readonly channels: readonly Recipient['channel'][];
  } | null;
}

/** Who would be notified of a check, and why: src/service/README.md, "Alerts". */
export interface AlertRecipients {
  /** @throws ServiceError 404 for a check that does not exist */
  ofCheck(key: AccountKey): Promise<CheckRecipients>;
}

const MAX_RECIPIENTS = 200;
const MAX_DEPENDENTS = 20;

export function createAlertRecipients(parts: AlertRecipientsParts): AlertRecipients {
  const { store, clock, silences, delivery } = parts;

  return {
    ofCheck({ accountId, id: checkId }) {
      return store.transaction(async (tx) => {
        const asked = { accountId, checkIds: [checkId], named: [checkId], certificates: [] };
        const [subject] = await findAlertSubjects(tx, asked);
        if (subject === undefined) throw notFound('check');
        const found = await listRecipients(tx, { accountId, checkId, limit: MAX_RECIPIENTS });
        const total =
          found.length < MAX_RECIPIENTS
            ? found.length
            : await countRecipients(tx, { accountId, checkId });
        const atMs = clock.wallMs();
        const isSilencedAt = await silences.from(tx, accountId, atMs);
        const isSilenced = isSilencedAt(subject.tags, atMs);
        const parents = await parentsOf(tx, accountId, [subject]);
        const failing = parents.failingOf(subject, atMs);
        const names = failing.map(({ name }) => name);
        const withoutRecipients = await listChecksWithoutRecipients(tx, {
          accountId,
          checkIds: failing.map((parent) => parent.checkId),
        });
        const namesWithoutRecipients = failing.flatMap((parent) =>
          withoutRecipients.includes(parent.checkId) ? parent.name : [],
        );
        const recipients = found.map((each) => recipientOf(each, delivery));
        return {
          ...settingsFor(subject),
          problem: currentProblemOf(subject, { isSilenced, failing: names, atMs }),
          dependents: await readDirectDependents(tx, { accountId, checkId, limit: MAX_DEPENDENTS }),
          silences: silencesOf(subject, {
            isSilenced,
            failing: names,
            withoutRecipients: namesWithoutRecipients,
            recipients,
          }),
          recipients,
          omitted: total - found.length,
          escalation: await escalationFor(tx, subject),
        };
      });
    },
  };
}

async function escalationFor(
  tx: Sql,
  { accountId, escalationStep }: AlertSubject,
): Promise<CheckRecipients['escalation']> {
  const step = escalationStepSchema.safeParse(escalationStep).data;
  if (step === undefined) return null;
  const channels = await listChannels(tx, { accountId, ids: step.alertChannelIds });
  return channels.length === 0 ? null : { minutes: step.minutes, channels };
}

function settingsFor({
  settings: { own, ownUsesGlobal, group, groupUsesGlobal, account },
}: AlertSubject): Pick<CheckRecipients, 'settings' | 'settingsOf'> {
  const read = (stored: unknown) => alertSettingsSchema.safeParse(stored).data ?? null;
  const sources = { ownUsesGlobal, groupUsesGlobal, own: read(own), group: read(group) };
  const inForce = settingsInForce({ ...sources, account: read(account) });
  const usesAccount = sources.group === null ? ownUsesGlobal : groupUsesGlobal;
  const settingsOf = usesAccount ? 'ACCOUNT' : sources.group === null ? 'CHECK' : 'GROUP';
  return { settings: wholeAlertSettings(inForce), settingsOf };
}

function silencesOf(
  { isActive, isMuted }: AlertSubject,
  {
    isSilenced,
    failing,
    withoutRecipients,
    recipients,
  }: {
    readonly isSilenced: boolean;
    /** The names of the checks that it depends on and that fail. */
    readonly failing: readonly string[];
    /** The names of those of whose failure no channel is notified. */
    readonly withoutRecipients: readonly string[];
    readonly recipients: readonly AlertRecipient[];
  },
): CheckRecipients['silences'] {
  const isNotified = recipients.some(
    ({ notifications, problem }) => notifications.includes('FAILURE') && problem === null,
  );
  const all: readonly (readonly [boolean, SilenceReason, string])[] = [
    [!isActive, 'NOT_ACTIVATED', 'The check or its group is not activated.'],
    [isMuted, 'MUTED', 'The check or its group is muted.'],
    [isSilenced, 'MAINTENANCE_WINDOW', 'A maintenance window silences or pauses the check now.'],
    [
      failing.length > 0,
      'PARENT_FAILS',
      `It depends on ${failing.join(', ')}, which fails: its alerts wait.${noRecipientsText(withoutRecipients)}`,
    ],
    [!isNotified, 'NO_CHANNEL', 'No alert channel is notified of failures of the check.'],
  ];
  return all.flatMap(([applies, code, message]) => (applies ? [{ code, message }] : []));
}

function noRecipientsText(names: readonly string[]): string {
  return names.length === 0
    ? ''
    : ` No alert channel is notified of failures of ${names.join(', ')}.`;
}

function recipientOf(
  { channel, activated, isNamed, ...wants }: Recipient,
  { smtp, sms }: OutgoingConfig,
): AlertRecipient {
  const thresholdDays = wants.sslExpiryThreshold;
  const notifications = (
    [
      [wants.sendFailure, 'FAILURE'],
      [wants.sendDegraded, 'DEGRADED'],
      [wants.sendRecovery, 'RECOVERY'],
      [wants.sslExpiry, 'CERTIFICATE'],
    ] as const
  ).flatMap(([isWanted, name]) => (activated && isWanted ? [name] : []));
  const cannotSend =
    channel.type === 'EMAIL' && smtp === null
      ? 'This service sends no email: SMTP_URL is not set.'
      : channel.type === 'SMS' && sms === null
        ? 'This service sends no SMS: SMS_GATEWAY_URL is not set.'
        : null;
  return {
    channel,
    activated,
    notifications,
    reason: reasonOf({ activated, isNamed, notifications, thresholdDays }),
    problem: cannotSend,
  };
}

const WORDS: Readonly<Record<Exclude<Notification, 'CERTIFICATE'>, string>> = {
  FAILURE: 'failures',
  DEGRADED: 'degraded runs',
  RECOVERY: 'recoveries',
};

function reasonOf({
  activated,
  isNamed,
  notifications,
  thresholdDays,
}: {
  readonly activated: boolean;
  readonly isNamed: boolean;
  readonly notifications: readonly Notification[];
  readonly thresholdDays: number;
}): string {
  if (!activated) return 'Its subscription to this check is not activated.';
  if (notifications.length === 0) return 'It is subscribed, but wants no notifications of checks.';
  const words = notifications.map((each) =>
    each === 'CERTIFICATE'
      ? `certificates that expire within ${countText(thresholdDays, 'day')}`
      : WORDS[each],
  );
  const what = isNamed ? 'this check' : 'all checks';
  return `It is subscribed to ${what} and wants ${words.join(', ')}.`;
}
