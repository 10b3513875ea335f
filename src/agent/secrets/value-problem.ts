import { isHeaderValue } from '../../model/check/request/http.ts';
import { isHttpUrl } from '../../model/check/request/request-url.ts';
import { type Template, templateNames } from '../../model/check/template.ts';
import type { TextField } from './check-texts.ts';

type Kind = TextField['kind'];

/** Maximum lengths with templates filled in; at least the limits of the check's own texts. */
export const LIMITS_CHARS: Readonly<Record<Kind, number>> = {
  url: 20_000,
  header: 20_000,
  query: 20_000,
  credential: 20_000,
  body: 1_000_000,
  data: 65_536,
};

const MAX_NAMED = 5;

/**
 * Why a text cannot be sent with its values filled in; null if it can. Names the variable, but
 * contains no value.
 *
 * @param filled the text with its values; null if it became too long
 */
export function valueProblem(
  kind: Kind,
  template: Template,
  filled: string | null,
  lookup: (name: string) => string | undefined,
): string | null {
  const names = templateNames(template);
  if (filled === null) {
    return `it is longer than ${LIMITS_CHARS[kind]} characters with ${valuesOf(names)} filled in`;
  }
  for (const name of unencodedNames(kind, template)) {
    const problem = problemIn(kind, lookup(name) ?? '');
    if (problem !== null) return `the value of the variable ${name} ${problem}`;
  }
  if (kind !== 'url' || isHttpUrl(filled)) return null;
  return `it is not an http or https URL with ${valuesOf(names)} filled in${encodingHint(template)}`;
}

/** The variables whose values are not encoded. An encoded value in a url is always valid. */
function unencodedNames(kind: Kind, template: Template): readonly string[] {
  if (kind !== 'url') return templateNames(template);
  return templateNames(
    template.filter((part, index) => typeof part !== 'string' && (part.isRaw || index === 0)),
  );
}

/** The problem with one value, to continue a sentence that starts with its name. */
function problemIn(kind: Kind, value: string): string | null {
  switch (kind) {
    case 'header':
      if (isHeaderValue(value)) return null;
      return (
        controlIn(value) ?? 'contains characters that are not in Latin-1, which headers require'
      );
    case 'credential': // RFC 7617 2
    case 'url':
      return controlIn(value);
    case 'query':
    case 'body':
    case 'data':
      return null;
  }
}

function controlIn(value: string): string | null {
  if (/[\r\n]$/.test(value) && !/[\r\n]/.test(value.trimEnd())) {
    return 'ends with a line break: store it without one';
  }
  if (/[\r\n]/.test(value)) return 'contains a line break';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(value)) return 'contains a control character';
  return null;
}

function valuesOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  if (names.length === 1) return `the value of the variable ${shown}`;
  return `the values of ${shown}${names.length > MAX_NAMED ? ' and others' : ''}`;
}

function encodingHint(template: Template): string {
  const encoded = template.find(
    (part, index) => typeof part !== 'string' && !part.isRaw && index > 0,
  );
  if (encoded === undefined || typeof encoded === 'string') return '';
  return ` (in a url {{${encoded.name}}} is URI-encoded; {{{${encoded.name}}}} is not)`;
}
