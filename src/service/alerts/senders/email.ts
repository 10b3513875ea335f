import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { shortenedToBytes } from '../../../runtime/text/cut-text.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { createMailer } from '../../outgoing/mailer.ts';
import type { Smtp } from '../../outgoing/outgoing-config.ts';
import type { MessageFacts } from './message-facts.ts';
import type { Send } from './send.ts';

type Email = Extract<ChannelTarget, { type: 'EMAIL' }>;

const MAX_SUBJECT_BYTES = 300;

export function createEmailSender(smtp: Smtp): Send<Email> {
  const { send } = createMailer(smtp);
  return ({ deliveryId, target, facts }, signal) =>
    send({ deliveryId, to: target.config.address, ...mailOf(facts) }, signal);
}

/** The subject is one line, whatever the name of the check: no text can add a header. */
export function mailOf({
  headline,
  title,
  error,
  errorLabel,
  isCustom,
  rows,
  link,
  acknowledgeLink,
}: MessageFacts): {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
} {
  const text = isCustom && error !== null ? [error] : [];
  const facts = [
    ...(isCustom || error === null ? [] : [[errorLabel, error] as const]),
    ...(acknowledgeLink === null ? [] : [['Acknowledge', acknowledgeLink] as const]),
    ...rows,
    ...(link === null ? [] : [['Details', link] as const]),
  ];
  const paragraphs = text.map((each) => `<p>${lines(htmlEscaped(each))}</p>`);
  const cells = facts.map(
    ([label, value]) =>
      `<tr><th align="left" valign="top">${htmlEscaped(label)}</th><td>${value === link || value === acknowledgeLink ? anchor(value) : lines(htmlEscaped(value))}</td></tr>`,
  );
  return {
    subject: shortenedToBytes(title, MAX_SUBJECT_BYTES),
    text: [
      headline,
      '',
      ...text.flatMap((each) => [each, '']),
      ...facts.map(([label, value]) => `${label}: ${value}`),
      '',
    ].join('\n'),
    html: `<!doctype html><html><body><h2>${htmlEscaped(headline)}</h2>${paragraphs.join('')}<table cellpadding="4">${cells.join('')}</table></body></html>`,
  };
}

function anchor(url: string): string {
  return `<a href="${htmlEscaped(url)}">${htmlEscaped(url)}</a>`;
}

function lines(html: string): string {
  return html.replaceAll('\n', '<br>');
}
