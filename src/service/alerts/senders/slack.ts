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
  const acknowledge = acknowledgeLink === null ? '' : `*Acknowledge:* ${linkTo(acknowledgeLink)}`;
  const details = link === null ? '' : `*Details:* ${linkTo(link)}`;
  const room = MAX_TEXT_CHARS - acknowledge.length - details.length;
  const plain = rows.map(([label, value]) => `*${label}:* ${value}`).join('\n');
  const facts = [acknowledge, fitEscaped(plain, room, escaped), details].filter(Boolean).join('\n');
  return {
    text: fitEscaped(title, MAX_TEXT_CHARS, escaped),
    blocks: [
      section(textOf(`*${headline}*`)),
      ...(error === null ? [] : [section(textOf(error))]),
      // Slack refuses an empty text.
      ...(facts === '' ? [] : [section(facts)]),
    ],
  };
}

/** @param text escaped */
function section(text: string): object {
  // Verbatim: addresses and names in the response of a target do not become links and mentions.
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/** Cuts the text before it is escaped, so that no escape is cut. */
function textOf(text: string): string {
  return fitEscaped(text, MAX_TEXT_CHARS, escaped);
}

function linkTo(url: string): string {
  return `<${escaped(url)}>`;
}

/** Slack reads these three characters as links and mentions. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
