import type { MessageFacts, Severity } from '../message-facts.ts';
import { type Adapter, jsonRequest } from './adapter.ts';
import { fitChars, fittingMessage, shortRows } from './message-texts.ts';

/** Published: about 28 KB for the message. Senders report refusals from 21 KB on. */
const MAX_BYTES = 20_000;
const MAX_VALUE_CHARS = 600;
const STYLES: Readonly<Record<Severity, string>> = {
  critical: 'attention',
  warning: 'warning',
  ok: 'good',
};

/**
 * Microsoft Teams: an adaptive card to the webhook of a workflow. Text runs show their text unchanged, while text
 * blocks and facts would interpret Markdown.
 */
export const teams: Adapter<'TEAMS'> = {
  type: 'TEAMS',
  request({ config, facts }) {
    const rows = shortRows(facts.rows, MAX_VALUE_CHARS);
    const message = fittingMessage(rows, MAX_BYTES, (shown) => messageOf(facts, shown));
    return jsonRequest(new URL(config.url), message);
  },
};

function messageOf(facts: MessageFacts, rows: MessageFacts['rows']) {
  const { headline, title, error, severity, link, acknowledgeLink } = facts;
  // The text of notifications.
  const summary = fitChars(title, MAX_VALUE_CHARS);
  const actions = [
    ...(link === null ? [] : [openUrl('Details', link)]),
    ...(acknowledgeLink === null ? [] : [openUrl('Acknowledge', acknowledgeLink)]),
  ];
  return {
    type: 'message',
    summary,
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: summary,
          msteams: { width: 'Full' },
          body: [
            {
              type: 'Container',
              style: STYLES[severity],
              bleed: true,
              items: [
                line({
                  text: fitChars(headline, MAX_VALUE_CHARS),
                  weight: 'Bolder',
                  size: 'Medium',
                }),
              ],
            },
            ...(error === null ? [] : [line({ text: fitChars(error, 2 * MAX_VALUE_CHARS) })]),
            ...rows.map(([label, value]) =>
              line({ text: `${label}: `, weight: 'Bolder' }, { text: value }),
            ),
          ],
          ...(actions.length === 0 ? {} : { actions }),
        },
      },
    ],
  };
}

function openUrl(title: string, url: string) {
  return { type: 'Action.OpenUrl', title, url };
}

function line(...runs: readonly { readonly text: string; readonly [option: string]: string }[]) {
  return {
    type: 'RichTextBlock',
    inlines: runs.map((run) => ({ type: 'TextRun', ...run })),
  };
}
