import { describe, expect, it } from 'vitest';
import { channelsSetting, type ShownRecipients } from '../../../../src/cli/explain/recipients.ts';
import { checkSchema } from '../../../../src/cli/explain/subject.ts';
import { wholeAlertSettings } from '../../../../src/model/alerting/alert-settings.ts';
import { checkOf } from '../../../support/samples/checks.ts';

type Recipient = ShownRecipients['recipients'][number];

const recipient = (id: number, name: string, fields: Partial<Recipient> = {}): Recipient => ({
  channel: { id, type: 'WEBHOOK', name },
  notifications: ['FAILURE', 'RECOVERY'],
  problem: null,
  ...fields,
});

/** @param named the ids of the channels that the check names */
function textOf(named: readonly number[], recipients: readonly Recipient[], omitted = 0): string {
  const { retryStrategy: _, frequencyOffset: __, ...body } = checkOf('URL', {});
  const check = checkSchema.parse({
    ...body,
    alertSettings: wholeAlertSettings(null),
    alertChannelSubscriptions: named.map((alertChannelId) => ({ alertChannelId })),
  });
  const { text, source } = channelsSetting(check, { recipients: [...recipients], omitted });
  return `${text} (${source})`;
}

describe('the alert channels in effect', () => {
  it('are those that the check names and those that are subscribed to all checks', () => {
    expect(textOf([1], [recipient(1, 'On call'), recipient(2, 'All')])).toBe(
      'On call, All (subscribed to all checks) (check)',
    );
    expect(textOf([], [recipient(2, 'All')])).toBe('All (subscribed to all checks) (account)');
    expect(textOf([1], [recipient(1, 'On call')], 2)).toBe('On call, 2 more channels (check)');
  });

  it('are none if no channel is subscribed, or none is notified of anything', () => {
    expect(textOf([], [])).toBe('no channel (check)');
    expect(textOf([1], [recipient(1, 'Off', { notifications: [] })])).toBe('no channel (check)');
  });

  it('have a note if they get no failures, or nothing at all', () => {
    const problem = 'This service sends no email: SMTP_URL is not set.';
    const both = [
      recipient(1, 'Board', { notifications: ['RECOVERY'] }),
      recipient(2, 'me@example.com', { problem }),
    ];
    expect(textOf([1, 2], both)).toBe(
      'Board (not of failures), me@example.com (the service cannot send to it) (check)',
    );
  });
});
