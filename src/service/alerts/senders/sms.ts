import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { shortenedToBytes } from '../../../runtime/text/cut-text.ts';
import { escapeFor } from '../../outgoing/escape.ts';
import type { SmsGateway } from '../../outgoing/outgoing-config.ts';
import type { OutgoingHttp } from '../../outgoing/outgoing-http.ts';
import { notSent } from '../../outgoing/send-outcome.ts';
import { renderTemplate } from '../../outgoing/template.ts';
import type { AlertNotice } from '../notice.ts';
import type { MessageFacts } from './message-facts.ts';
import type { Send } from './send.ts';

type Sms = Extract<ChannelTarget, { type: 'SMS' }>;

/** Two message parts of 153 characters (GSM 03.38). */
const MAX_BYTES = 300;

export function createSmsSender(http: OutgoingHttp, gateway: SmsGateway): Send<Sms> {
  return async ({ deliveryId, target, notice, facts }, signal) => {
    const variables = {
      NUMBER: target.config.number,
      MESSAGE: smsText(facts, notice),
      DELIVERY_ID: deliveryId,
    };
    const body = renderTemplate(gateway.body, variables, escapeFor(gateway.contentType));
    if (!body.ok) return notSent(`SMS_GATEWAY_BODY failed: ${body.problem}`, { isFinal: true });
    return http.send(
      {
        method: 'POST',
        url: new URL(gateway.url),
        headers: {
          'content-type': gateway.contentType,
          ...(gateway.authorization === null ? {} : { authorization: gateway.authorization }),
        },
        body: body.text,
        isGuarded: false,
      },
      signal,
    );
  };
}

/** A longer link would leave no room for what happened. */
const MAX_LINK_BYTES = 180;

/**
 * What happened, where and why, as far as it fits, and one link: to the page that acknowledges the alert, or else to
 * the details. The output of a template, or the list of a message for several notices, replaces where and why.
 */
export function smsText(
  { headline, error, isCustom, link: details, acknowledgeLink }: MessageFacts,
  { runLocation, problem, bundle }: Pick<AlertNotice, 'runLocation' | 'problem' | 'bundle'>,
): string {
  const isList = bundle !== undefined && !isCustom;
  const long = isList ? bundle.lines.join('; ') : error;
  const why = long === null ? '' : `: ${long.replaceAll(/\s+/g, ' ')}`;
  // The headline of a problem of monitoring itself, or of several notices, already contains the location.
  const isWhole = isCustom || isList || problem !== undefined;
  const text = isWhole ? `${headline}${why}` : `${headline}, ${runLocation}${why}`;
  const link = acknowledgeLink ?? details;
  const end = link === null || Buffer.byteLength(link) > MAX_LINK_BYTES ? '' : ` ${link}`;
  return `${shortenedToBytes(text, MAX_BYTES - Buffer.byteLength(end), '...')}${end}`;
}
