import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { shortened } from '../../../runtime/text/cut-text.ts';
import type { OutgoingHttp } from '../../outgoing/outgoing-http.ts';
import type { AlertNotice } from '../notice.ts';
import { headlineOf, noticeFacts } from './headline.ts';
import type { Send } from './send.ts';

type Slack = Extract<ChannelTarget, { type: 'SLACK' }>;

/** Slack limits the text of a section to 3000 characters. */
const MAX_TEXT_BYTES = 2900;

export function createSlackSender(http: OutgoingHttp): Send<Slack> {
  return ({ target, notice }, signal) =>
    http.send(
      {
        method: 'POST',
        url: new URL(target.config.url),
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(slackMessage(notice)),
        isGuarded: true,
      },
      signal,
    );
}

/** Notifications show `text`, the channel shows the blocks. */
export function slackMessage(notice: AlertNotice): object {
  const headline = escaped(headlineOf(notice));
  const facts = noticeFacts(notice).map(([label, value]) => `*${label}:* ${escaped(value)}`);
  return {
    text: headline,
    blocks: [section(`*${headline}*`), section(facts.join('\n'))],
  };
}

function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: shortened(text, MAX_TEXT_BYTES) } };
}

/** Slack reads these three characters as links and mentions. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
