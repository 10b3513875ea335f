import type { MessageFacts, Severity } from '../message-facts.ts';
import { type Adapter, jsonRequest } from './adapter.ts';
import { fitEscaped, markdownEscaped } from './message-texts.ts';

/** Published: 2000. */
const MAX_CONTENT_CHARS = 1000;
/** Published: 4096 for a description, 1024 for a value of at most 25 fields, 6000 for all of an embed. */
const MAX_DESCRIPTION_CHARS = 2000;
const MAX_VALUE_CHARS = 250;
const MAX_FIELDS = 12;
const COLORS: Readonly<Record<Severity, number>> = {
  critical: 0xd32f2f,
  warning: 0xf9a825,
  ok: 0x2e7d32,
};

/** Discord: a message with one embed to a webhook, which waits until the message is stored. */
export const discord: Adapter<'DISCORD'> = {
  type: 'DISCORD',
  request({ config, facts }) {
    const { title, error, severity, link, acknowledgeLink, startedAtMs } = facts;
    const rows: MessageFacts['rows'] =
      acknowledgeLink === null ? facts.rows : [['Acknowledge', acknowledgeLink], ...facts.rows];
    const url = new URL(config.url);
    url.searchParams.set('wait', 'true');
    return jsonRequest(url, {
      // The text of notifications.
      content: fitEscaped(title, MAX_CONTENT_CHARS, markdownEscaped),
      // Whatever a text contains, nobody is mentioned.
      allowed_mentions: { parse: [] },
      embeds: [
        {
          ...(link === null ? {} : { title: 'Details', url: link }),
          ...(error === null
            ? {}
            : { description: fitEscaped(error, MAX_DESCRIPTION_CHARS, markdownEscaped) }),
          color: COLORS[severity],
          timestamp: new Date(startedAtMs).toISOString(),
          fields: rows.slice(0, MAX_FIELDS).map(([name, value]) => ({
            name,
            value: fitEscaped(value, MAX_VALUE_CHARS, markdownEscaped),
            inline: true,
          })),
        },
      ],
    });
  },
  retryAfterMs(body) {
    const seconds = (body as { readonly retry_after?: unknown } | null)?.retry_after;
    return typeof seconds === 'number' ? Math.ceil(seconds * 1000) : null;
  },
};
