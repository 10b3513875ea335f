import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { OutgoingHttp } from '../../outgoing/outgoing-http.ts';
import { fitEscaped } from './adapters/message-texts.ts';
import type { MessageFacts } from './message-facts.ts';
import type { Send } from './send.ts';

type Slack = Extract<ChannelTarget, { type: 'SLACK' }>;

/** Slack limits the text of a section to 3000 characters. */
const MAX_TEXT_CHARS = 2900;

export function createSlackSender(http: OutgoingHttp): Send<Slack> {
  return ({ target, facts }, signal) =>
    http.send(
      {
        method: 'POST',
        url: new URL(target.config.url),
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify(slackMessage(facts)),
        isGuarded: true,
      },
      signal,
    );
}

/** Notifications show `text`, the channel shows the blocks. */
export function slackMessage({
  headline,
  title,
  error,
  rows,
  link,
  acknowledgeLink,
}: MessageFacts): object {
  const facts = [
    ...(acknowledgeLink === null ? [] : [['Acknowledge', acknowledgeLink] as const]),
    ...rows,
    ...(link === null ? [] : [['Details', link] as const]),
  ]
    .map(([label, value]) => `*${label}:* ${value}`)
    .join('\n');
  return {
    text: fitEscaped(title, MAX_TEXT_CHARS, escaped),
    blocks: [
      section(`*${headline}*`),
      ...(error === null ? [] : [section(error)]),
      // Slack refuses an empty text.
      ...(facts === '' ? [] : [section(facts)]),
    ],
  };
}

/** It is cut before it is escaped: no escape is cut. */
function section(text: string): object {
  return {
    type: 'section',
    text: { type: 'mrkdwn', text: fitEscaped(text, MAX_TEXT_CHARS, escaped) },
  };
}

/** Slack reads these three characters as links and mentions. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
