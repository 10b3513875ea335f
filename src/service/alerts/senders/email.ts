import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { shortened } from '../../../runtime/text/cut-text.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { createMailer } from '../../outgoing/mailer.ts';
import type { Smtp } from '../../outgoing/outgoing-config.ts';
import type { AlertNotice } from '../notice.ts';
import { headlineOf, noticeFacts } from './headline.ts';
import type { Send } from './send.ts';

type Email = Extract<ChannelTarget, { type: 'EMAIL' }>;

const MAX_SUBJECT_BYTES = 300;

export function createEmailSender(smtp: Smtp): Send<Email> {
  const { send } = createMailer(smtp);
  return ({ deliveryId, target, notice }, signal) =>
    send({ deliveryId, to: target.config.address, ...mailOf(notice) }, signal);
}

/** No text becomes a header: the subject is one line, whatever the name of the check. */
export function mailOf(notice: AlertNotice): {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
} {
  const headline = headlineOf(notice);
  const facts = noticeFacts(notice);
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th align="left" valign="top">${htmlEscaped(label)}</th><td>${value === notice.link ? anchor(value) : lines(htmlEscaped(value))}</td></tr>`,
  );
  return {
    subject: shortened(headline, MAX_SUBJECT_BYTES),
    text: [headline, '', ...facts.map(([label, value]) => `${label}: ${value}`), ''].join('\n'),
    html: `<!doctype html><html><body><h2>${htmlEscaped(headline)}</h2><table cellpadding="4">${rows.join('')}</table></body></html>`,
  };
}

function anchor(url: string): string {
  return `<a href="${htmlEscaped(url)}">${htmlEscaped(url)}</a>`;
}

function lines(html: string): string {
  return html.replaceAll('\n', '<br>');
}
