import { z } from 'zod';
import { countText } from '../../runtime/text/count-text.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { readAs } from '../service-api/read-responses.ts';
import type { Setting } from './settings.ts';
import type { ShownCheck } from './subject.ts';

const shownRecipientsSchema = z.object({
  recipients: z.array(
    z.object({
      channel: z.object({ id: z.number(), type: z.string(), name: z.string() }),
      notifications: z.array(z.string()),
      problem: z.string().nullable(),
    }),
  ),
  omitted: z.int(),
});
/** The channels that are subscribed to a check, as the API shows them. */
export type ShownRecipients = z.output<typeof shownRecipientsSchema>;
type Recipient = ShownRecipients['recipients'][number];

/**
 * Reads which channels are subscribed to a check; null for a service of an earlier release, which does not show them.
 *
 * @throws VedetteError like ApiClient.send
 */
export async function readRecipients(
  client: Pick<ApiClient, 'send'>,
  checkId: string,
  signal: AbortSignal,
): Promise<ShownRecipients | null> {
  const path = `/v1/checks/${encodeURIComponent(checkId)}/alert-recipients`;
  const reply = await client.send('GET', path, { signal });
  return reply.ok ? readAs(shownRecipientsSchema, reply.json, 'list of alert recipients') : null;
}

/** The channels that are notified of a check: those that it names, and those that are subscribed to all checks. */
export function channelsSetting(
  { alertChannelSubscriptions }: ShownCheck,
  { recipients, omitted }: ShownRecipients,
): Setting {
  const ids = new Set(alertChannelSubscriptions.map(({ alertChannelId }) => alertChannelId));
  const isNamed = ({ channel }: Recipient): boolean => ids.has(channel.id);
  const notified = recipients.filter(({ notifications }) => notifications.length > 0);
  const texts = [
    ...notified.map((recipient) => recipientText(recipient, isNamed(recipient))),
    ...(omitted > 0 ? [countText(omitted, 'more channel')] : []),
  ];
  const isOfAccount = notified.length > 0 && !notified.some(isNamed);
  return {
    name: 'alertChannels',
    value: notified.map(({ channel, notifications }) => ({ ...channel, notifications })),
    text: texts.length === 0 ? 'no channel' : texts.join(', '),
    source: isOfAccount ? 'account' : 'check',
  };
}

function recipientText({ channel, notifications, problem }: Recipient, isNamed: boolean): string {
  const notes = [
    ...(isNamed ? [] : ['subscribed to all checks']),
    ...(notifications.includes('FAILURE') ? [] : ['not of failures']),
    ...(problem === null ? [] : ['the service cannot send to it']),
  ];
  return notes.length === 0 ? channel.name : `${channel.name} (${notes.join('; ')})`;
}
