import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { LinkBase } from '../../outgoing/link-base.ts';
import type { OutgoingConfig } from '../../outgoing/outgoing-config.ts';
import { createOutgoingHttp } from '../../outgoing/outgoing-http.ts';
import { reachableAddresses } from '../../outgoing/reachable-addresses.ts';
import {
  notSent,
  SEND_LIMIT_MS,
  type SendOutcome,
  withRemark,
} from '../../outgoing/send-outcome.ts';
import { dashboardLink } from '../dashboard-link.ts';
import { createEmailSender } from '../senders/email.ts';
import { renderMessage } from '../senders/render-message.ts';
import type { OpenDelivery, RenderedDelivery } from '../senders/send.ts';
import { createServiceChannelSender } from '../senders/service-channel.ts';
import { createSlackSender } from '../senders/slack.ts';
import { createSmsSender } from '../senders/sms.ts';
import { createWebhookSender } from '../senders/webhook.ts';

/** Sends a notice once, to a channel of any type. */
export interface NoticeSender {
  /**
   * Never rejects; resolves within `SEND_LIMIT_MS`.
   *
   * @param signal cancels the attempt: it is then unknown whether the notice arrived
   */
  send(delivery: OpenDelivery, signal: AbortSignal): Promise<SendOutcome>;
  close(): Promise<void>;
}

const NO_SMTP = notSent('this service sends no email: SMTP_URL is not set', { isFinal: true });
const NO_SMS = notSent('this service sends no SMS: SMS_GATEWAY_URL is not set', { isFinal: true });

/** @param linkBase the base of links to the dashboard */
export function createNoticeSender(
  config: OutgoingConfig,
  { clock, linkBase }: { readonly clock: Clock; readonly linkBase: LinkBase },
): NoticeSender {
  const http = createOutgoingHttp(reachableAddresses(config), config.proxies);
  const email = config.smtp === null ? async () => NO_SMTP : createEmailSender(config.smtp);
  const sms = config.sms === null ? async () => NO_SMS : createSmsSender(http, config.sms);
  const webhook = createWebhookSender(http, clock);
  const slack = createSlackSender(http);
  const service = createServiceChannelSender(http, clock);

  async function sendTo(
    delivery: RenderedDelivery<ChannelTarget>,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { target } = delivery;
    switch (target.type) {
      case 'EMAIL':
        return email({ ...delivery, target }, signal);
      case 'WEBHOOK':
        return webhook({ ...delivery, target }, signal);
      case 'SLACK':
        return slack({ ...delivery, target }, signal);
      case 'SMS':
        return sms({ ...delivery, target }, signal);
      default:
        return service({ ...delivery, target }, signal);
    }
  }

  return {
    async send(delivery, signal) {
      const limit = new AbortController();
      const cancel = clock.after(SEND_LIMIT_MS, () => limit.abort());
      try {
        const link = dashboardLink(delivery.notice, linkBase.url);
        const linked = { ...delivery, notice: { ...delivery.notice, link } };
        const { facts, remark } = renderMessage(linked);
        const outcome = await sendTo({ ...linked, facts }, AbortSignal.any([signal, limit.signal]));
        return withRemark(outcome, remark);
      } catch (thrown) {
        // A fault in one channel must not stop deliveries to the others.
        return notSent(`the notification could not be rendered: ${messageOf(thrown)}`, {
          isFinal: true,
        });
      } finally {
        cancel();
      }
    },
    close: () => http.close(),
  };
}
