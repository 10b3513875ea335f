import { htmlEscaped } from '../../../../runtime/text/html-escaped.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars } from './message-texts.ts';

/** Published: 4096 characters without the markup. The limits of the parts together stay below. */
const MAX_HEADLINE_CHARS = 300;
const MAX_ERROR_CHARS = 1200;
const MAX_VALUE_CHARS = 180;
const MAX_ROWS = 12;

/** Telegram: sendMessage of the Bot API, with HTML, of which three characters are escaped. */
export const telegram: Adapter<'TELEGRAM'> = {
  type: 'TELEGRAM',
  request({ config, facts: { headline, error, rows, link, acknowledgeLink } }) {
    const { url, botToken, chatId, threadId } = config;
    const cut = (text: string, maxChars: number) => htmlEscaped(fitChars(text, maxChars));
    const lines = [
      `<b>${cut(headline, MAX_HEADLINE_CHARS)}</b>`,
      ...(error === null ? [] : [cut(error, MAX_ERROR_CHARS)]),
      '',
      ...rows
        .slice(0, MAX_ROWS)
        .map(([label, value]) => `<b>${htmlEscaped(label)}:</b> ${cut(value, MAX_VALUE_CHARS)}`),
      ...(link === null ? [] : [anchor(link, 'Details')]),
      ...(acknowledgeLink === null ? [] : [anchor(acknowledgeLink, 'Acknowledge')]),
    ];
    return jsonRequest(endpointOf(url, `bot${botToken}/sendMessage`), {
      chat_id: chatId,
      text: lines.join('\n'),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
      ...(threadId === null ? {} : { message_thread_id: threadId }),
    });
  },
  retryAfterMs(body) {
    const { parameters } = (body ?? {}) as {
      readonly parameters?: { readonly retry_after?: unknown };
    };
    const seconds = parameters?.retry_after;
    return typeof seconds === 'number' ? Math.ceil(seconds * 1000) : null;
  },
};

function anchor(url: string, text: string): string {
  return `<a href="${htmlEscaped(url)}">${text}</a>`;
}
