import type { AlertChannelType, MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from '../../../model/alerting/service-channels.ts';
import type { ServiceConfigs } from '../../../model/alerting/service-targets.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { findAccount } from '../../accounts/shared.sql.ts';
import type { Store } from '../../database/store.ts';
import { invalid } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import type { LinkBase } from '../../outgoing/link-base.ts';
import { requireTemplates } from '../channels/channel-input.ts';
import { dashboardLink } from '../dashboard-link.ts';
import { sampleEndOf, sampleNotice } from '../delivery/sample-notice.ts';
import type { AlertNotice } from '../notice.ts';
import type { Adapter } from '../senders/adapters/adapter.ts';
import { plainTextOf } from '../senders/adapters/message-texts.ts';
import { ADAPTERS } from '../senders/adapters/registry.ts';
import { mailOf } from '../senders/email.ts';
import { incidentKeyOf } from '../senders/incident-key.ts';
import type { MessageFacts } from '../senders/message-facts.ts';
import { renderMessage, templateProblemOf } from '../senders/render-message.ts';
import { slackMessage } from '../senders/slack.ts';
import { smsText } from '../senders/sms.ts';
import { webhookBody } from '../senders/webhook.ts';

export interface PreviewInput extends MessageTemplates {
  readonly type: AlertChannelType;
  /** `config.template` of a webhook. */
  readonly template: string | null;
  /** The content type of a webhook; ignored for other types. */
  readonly contentType: string;
}

export interface MessagePreview {
  readonly notice: 'FAILURE' | 'RECOVERY';
  /** One line, as a lock screen shows it. */
  readonly title: string;
  /** The text below the title, as plain text. */
  readonly text: string;
  readonly contentType: string;
  /** The body of the message, escaped for the channel. */
  readonly body: string;
}

/** Previews of the messages of a channel, about a sample check. */
export interface MessagePreviews {
  /**
   * A failure and its recovery.
   *
   * @throws ServiceError 400 for a template that cannot be used
   */
  of(accountId: string, input: PreviewInput): Promise<readonly MessagePreview[]>;
}

/** @param linkBase of links to pages */
export function createMessagePreviews({
  store,
  clock,
  ids,
  linkBase,
}: {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly linkBase: LinkBase;
}): MessagePreviews {
  return {
    async of(accountId, input) {
      requireTemplates(input);
      const problem = templateProblemOf(input.template, input.contentType);
      if (problem !== null) throw invalid([bodyProblem(['template'], problem)]);
      const account = await findAccount(store, accountId);
      const sample = sampleNotice({
        alertId: ids(),
        atMs: clock.wallMs(),
        timeZone: account?.timeZone ?? 'UTC',
      });
      const failure = { ...sample, link: dashboardLink(sample, linkBase.url) };
      const deliveryId = ids();
      return [
        previewOf({ accountId, deliveryId, input, kind: 'FAILURE', notice: failure }),
        previewOf({
          accountId,
          deliveryId,
          input,
          kind: 'RECOVERY',
          notice: sampleEndOf(failure),
        }),
      ];
    },
  };
}

interface Previewed {
  readonly accountId: string;
  readonly deliveryId: string;
  readonly input: PreviewInput;
  readonly kind: MessagePreview['notice'];
  readonly notice: AlertNotice;
}

function previewOf({ accountId, deliveryId, input, kind, notice }: Previewed): MessagePreview {
  const { facts } = renderMessage({ deliveryId, notice, templates: input });
  const { title } = facts;
  const key = incidentKeyOf(accountId, notice);
  const sent = bodyOf(input, { deliveryId, key, notice, facts });
  return { notice: kind, title, text: plainTextOf(facts), ...sent };
}

interface Message {
  readonly deliveryId: string;
  readonly key: string;
  readonly notice: AlertNotice;
  readonly facts: MessageFacts;
}

function bodyOf(
  { type, template, contentType }: PreviewInput,
  { deliveryId, key, notice, facts }: Message,
): Pick<MessagePreview, 'contentType' | 'body'> {
  switch (type) {
    case 'EMAIL':
      return { contentType: 'text/html', body: mailOf(facts).html };
    case 'SMS':
      return { contentType: 'text/plain', body: smsText(facts, notice) };
    case 'SLACK':
      return { contentType: 'application/json', body: JSON.stringify(slackMessage(facts)) };
    case 'WEBHOOK': {
      const headers = [{ key: 'content-type', value: contentType, locked: false }];
      const made = webhookBody({ template, headers }, { deliveryId, notice, facts });
      return { contentType: made.contentType, body: made.text };
    }
    default: {
      const adapter: Adapter<ServiceChannelType> = ADAPTERS[type];
      const message = { facts, key, deliveryId, nowMs: notice.atMs };
      const request = adapter.request({ ...message, config: sampleConfig(type) });
      const { 'content-type': sentType = '' } = request.headers;
      return { contentType: sentType, body: request.body };
    }
  }
}

/** A configuration without real credentials. */
function sampleConfig(type: ServiceChannelType): ServiceConfigs[ServiceChannelType] {
  const { config, sample } = SERVICE_CHANNELS[type];
  // The sample of each type is one of its configurations.
  return config.parse(sample) as ServiceConfigs[ServiceChannelType];
}
