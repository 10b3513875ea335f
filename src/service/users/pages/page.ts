import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { STYLE } from './style.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
/** The page may have its style and its icon, and send its forms to the service. It runs no script. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
const LOGO =
  '<svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M10 1l8 17H2z" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/><circle cx="10" cy="11" r="2" fill="currentColor"/></svg>';

export const LINK_GONE = 'This link was used already, or it has expired.';
export const PASSWORD_HINT =
  'At least 8 characters. A sentence is easier to remember than symbols.';

/** The outcome of the form that was sent. */
export interface Note {
  readonly kind: 'fail' | 'pass';
  readonly text: string;
}

interface PageParts {
  readonly title: string;
  readonly note: Note | null;
  /** HTML. */
  readonly main: string;
  readonly isWide?: boolean;
}

/** Sends a page. Browsers withhold the Origin of its forms under the policy no-referrer. */
export function sendPage(reply: FastifyReply, parts: PageParts): FastifyReply {
  return reply
    .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'same-origin' })
    .type('text/html; charset=utf-8')
    .send(pageHtml(parts));
}

function pageHtml({ title, note, main, isWide = false }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${htmlEscaped(title)} – Vedette</title><link rel="icon" href="/docs/icon.svg"><style>${STYLE}</style></head>
<body>
<header><a class="brand" href="/docs">${LOGO}Vedette</a></header>
<main${isWide ? ' class="wide"' : ''}><h1>${htmlEscaped(title)}</h1>
${note === null ? '' : `<div class="note ${note.kind}" role="${note.kind === 'fail' ? 'alert' : 'status'}">${htmlEscaped(note.text)}</div>`}
${main}
</main>
</body></html>
`;
}

/** A field of a form. Password managers go by `autocomplete`. */
export function fieldHtml(field: {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'password';
  readonly autocomplete: string;
  readonly value?: string;
  readonly hint?: string;
  readonly hasFocus?: boolean;
}): string {
  const { name, label, type, autocomplete, value = '', hint = '', hasFocus = false } = field;
  const help = hint === '' ? '' : `<small id="${name}-hint">${htmlEscaped(hint)}</small>`;
  return `<label>${htmlEscaped(label)}<input name="${name}" type="${type}" autocomplete="${autocomplete}" value="${htmlEscaped(value)}" required${hint === '' ? '' : ` aria-describedby="${name}-hint"`}${hasFocus ? ' autofocus' : ''}>${help}</label>`;
}

export function hiddenHtml(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${htmlEscaped(value)}">`;
}

export function buttonHtml(text: string, isPrimary = true): string {
  return `<button class="button${isPrimary ? ' primary' : ''}">${htmlEscaped(text)}</button>`;
}
