import type { MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import { cutText, shortenedToBytes } from '../../../runtime/text/cut-text.ts';
import { onOneLine } from '../../../runtime/text/one-line.ts';
import { escapeFor } from '../../outgoing/escape.ts';
import { renderTemplate } from '../../outgoing/template.ts';
import { sampleNotice } from '../delivery/sample-notice.ts';
import type { AlertNotice } from '../notice.ts';
import { type MessageFacts, messageFactsOf } from './message-facts.ts';
import { variablesOf } from './notice-variables.ts';
import type { OpenDelivery } from './send.ts';

export interface RenderedMessage {
  readonly facts: MessageFacts;
  /** Why the defaults replace the output of the templates; null if they do not. */
  readonly remark: string | null;
}

/** In UTF-8. About as long as the longest texts that services accept. */
const MAX_TITLE_BYTES = 500;
const MAX_TEXT_BYTES = 16 * 1024;

/** A template makes plain text, which the sender of each channel escapes like every text. */
const unescaped = escapeFor('text/plain');

/**
 * The variables that a template needs for a notice of this kind. A template that uses none of them was written for
 * alerts of one check: it would hide all notices but the first, or show an acknowledgement as an alert.
 *
 * @returns null if every template can be used
 */
function neededVariables(
  name: keyof MessageTemplates,
  { bundle, acknowledgement, flapping }: AlertNotice,
): readonly string[] | null {
  if (bundle !== undefined) return ['ALERT_TITLE', 'ALERT_TEXT', 'NOTICE_COUNT', 'NOTICE_LIST'];
  // The title shows it.
  if (name === 'textTemplate') return null;
  if (acknowledgement !== undefined) return ['ALERT_TITLE', 'ALERT_TYPE', 'ACKNOWLEDGED_BY'];
  return flapping === undefined ? null : ['ALERT_TITLE', 'FLAPPING'];
}

function suits(name: keyof MessageTemplates, template: string, notice: AlertNotice): boolean {
  const needed = neededVariables(name, notice);
  return needed?.some((variable) => template.includes(variable)) ?? true;
}

/**
 * The content of a message, made with the templates of its channel. If a template fails, makes an empty text, or does
 * not suit the notice, the default is used: an alert in other words is better than none.
 */
export function renderMessage({
  deliveryId,
  notice,
  templates,
}: Pick<OpenDelivery, 'deliveryId' | 'notice' | 'templates'>): RenderedMessage {
  const facts = messageFactsOf(notice);
  const { titleTemplate = null, textTemplate = null } = templates ?? {};
  if (titleTemplate === null && textTemplate === null) return { facts, remark: null };
  const variables = variablesOf({ deliveryId, notice });
  const problems: string[] = [];
  const rendered = (name: keyof MessageTemplates, template: string | null): string | null => {
    if (template === null || !suits(name, template, notice)) return null;
    const made = renderTemplate(template, variables, unescaped);
    // Services refuse a message without visible characters.
    if (made.ok && onOneLine(made.text) !== '') return made.text.trim();
    const problem = made.ok ? 'it makes an empty text' : made.problem;
    problems.push(`the default was sent in place of ${name}, which failed: ${problem}`);
    return null;
  };
  const title = rendered('titleTemplate', titleTemplate);
  const text = rendered('textTemplate', textTemplate);
  const line = title === null ? null : shortenedToBytes(onOneLine(title), MAX_TITLE_BYTES);
  return {
    facts: {
      ...facts,
      replaces: replacedBy(notice, facts, (earlier) =>
        renderMessage({ deliveryId, notice: earlier, ...(templates ? { templates } : {}) }),
      ),
      ...(line === null ? {} : { headline: line, title: line }),
      ...(text === null ? {} : { error: cutText(text, MAX_TEXT_BYTES), rows: [], isCustom: true }),
    },
    remark: problems.length === 0 ? null : problems.join('; '),
  };
}

/** The previous notice, rendered with the same templates. */
function replacedBy(
  { previousNotice = null, timeZone = 'UTC' }: AlertNotice,
  { replaces }: MessageFacts,
  render: (earlier: AlertNotice) => RenderedMessage,
): MessageFacts['replaces'] {
  if (replaces === null || previousNotice === null) return replaces;
  return { ...replaces, facts: render({ ...previousNotice, timeZone }).facts };
}

/**
 * The problem of a template, as the end of a sentence that begins with its name; null for none.
 *
 * @param contentType of what it makes
 */
export function templateProblemOf(template: string | null, contentType: string): string | null {
  if (template === null) return null;
  const notice = sampleNotice({ alertId: 'test', atMs: 0 });
  const variables = variablesOf({ deliveryId: 'test', notice });
  const rendered = renderTemplate(template, variables, escapeFor(contentType));
  return rendered.ok ? null : `must be a template that can be used: ${rendered.problem}`;
}
