import { z } from 'zod';
import { compileTemplate, fillTemplate, type Placeholder, type Template } from '../template.ts';

const START = /^https?:\/\/[^/?#]/i;
const SCHEMES = ['https://', 'http://'];

const PLAIN_MESSAGE = 'must be an http or https URL, for example https://example.com/health';
const TEMPLATE_MESSAGE =
  'must be an http or https URL once its variables are filled in, for example https://{{HOST}}/health; {{{NAME}}} puts a value in without encoding it';

/** Whether a request can be sent to a URL. */
export function isHttpUrl(text: string): boolean {
  return START.test(text) && URL.canParse(text);
}

/**
 * The URL of a URL or API check. The agent fills its templates in when it runs the check
 * (src/model/README.md, "Variables and secrets").
 */
export const urlSchema = z
  .string()
  .min(1)
  // `canBecomeHttpUrl` takes time that is quadratic in the length.
  .max(2048, { abort: true })
  .superRefine((text, context) => {
    const template = compileTemplate(text);
    if (template === null ? isHttpUrl(text) : canBecomeHttpUrl(template)) return;
    const message = template === null ? PLAIN_MESSAGE : TEMPLATE_MESSAGE;
    context.addIssue({ code: 'custom', message });
  })
  .describe(
    'An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value.',
  );

/** Whether the template is an http or https URL with some values. */
function canBecomeHttpUrl(template: Template): boolean {
  return beginnings(template).some((beginning) => {
    const filled = fillUrl(template, (_, before) => standIn(before, beginning));
    return filled !== null && isHttpUrl(filled);
  });
}

/**
 * Possible values of the first placeholder if the scheme before it is not complete: in
 * `{{{SCHEME}}}://host` it must be the rest of the scheme, in `{{BASE}}/path` also the host.
 */
function beginnings(template: Template): readonly string[] {
  const [first] = template;
  const written = typeof first === 'string' ? first : '';
  if (!isSchemeBegun(written)) return [''];
  const missing = SCHEMES.filter((scheme) => isPart(written, scheme)).map(
    (scheme) => `${scheme.slice(written.length)}a`,
  );
  return missing.flatMap((rest) =>
    Array.from({ length: rest.length + 1 }, (_, chars) => rest.slice(0, chars)),
  );
}

function isSchemeBegun(text: string): boolean {
  return SCHEMES.some((scheme) => isPart(text, scheme));
}

function isPart(text: string, scheme: string): boolean {
  return text.length < scheme.length && scheme.startsWith(text.toLowerCase());
}

/** A value that is valid after the text before it: an address in brackets, a port, or a name. */
function standIn(before: string, beginning: string): string {
  if (isSchemeBegun(before)) return beginning;
  if (before.endsWith('[')) return '::1';
  return /:\d{0,5}$/.test(before.slice(-6)) ? '1' : 'a';
}

/**
 * Fills values into a url. Values in two braces are URI-encoded, except at the very start: no
 * encoded text could start a URL, so the meaning of `{{BASE}}/path` is clear.
 *
 * @param valueFor the value of a placeholder; `before` is the text filled in so far
 * @returns null if the url would be longer than `maxChars`
 */
export function fillUrl(
  template: Template,
  valueFor: (placeholder: Placeholder, before: string) => string,
  maxChars?: number,
): string | null {
  const encoded = (placeholder: Placeholder, before: string): string => {
    const value = valueFor(placeholder, before);
    return placeholder.isRaw || before === '' ? value : encodeURIComponent(value.toWellFormed());
  };
  return fillTemplate(template, encoded, maxChars);
}
