import type { Severity } from '../message-facts.ts';
import { type Adapter, jsonRequest } from './adapter.ts';
import { fitChars, fitEscaped, markdownEscaped } from './message-texts.ts';

/** Published: 16,383 characters, and 4000 in earlier releases. */
const MAX_TEXT_CHARS = 1000;
const MAX_ERROR_CHARS = 3000;
const MAX_VALUE_CHARS = 500;
const COLORS: Readonly<Record<Severity, string>> = {
  critical: '#d32f2f',
  warning: '#f9a825',
  ok: '#2e7d32',
};

/** Mattermost: a post with one attachment to an incoming webhook. */
export const mattermost: Adapter<'MATTERMOST'> = {
  type: 'MATTERMOST',
  request({ config, facts }) {
    const { title, error, severity, link, acknowledgeLink } = facts;
    const acknowledge =
      acknowledgeLink === null
        ? []
        : [{ title: 'Acknowledge', value: `[Open the page](${acknowledgeLink})`, short: true }];
    return jsonRequest(new URL(config.url), {
      // The text of notifications.
      text: fitEscaped(title, MAX_TEXT_CHARS, escaped),
      attachments: [
        {
          fallback: withoutMentions(fitChars(title, MAX_TEXT_CHARS)),
          color: COLORS[severity],
          ...(link === null ? {} : { title: 'Details', title_link: link }),
          ...(error === null ? {} : { text: fitEscaped(error, MAX_ERROR_CHARS, escaped) }),
          fields: [
            ...acknowledge,
            ...facts.rows.map(([label, value]) => ({
              title: label,
              value: fitEscaped(value, MAX_VALUE_CHARS, escaped),
              short: true,
            })),
          ],
        },
      ],
    });
  },
};

function escaped(text: string): string {
  return withoutMentions(markdownEscaped(text));
}

/** Mentions work in spite of a backslash, but not with a zero-width space after the @. */
function withoutMentions(text: string): string {
  return text.replaceAll('@', '@\u200b');
}
