import { compileTemplate } from '../check/template.ts';

/**
 * HTTP authentication schemes (IANA registry) and others in use: a word like these is no secret.
 */
const SCHEME =
  /^\s*(?:basic|bearer|digest|dpop|hoba|mutual|negotiate|ntlm|oauth|token|apikey|api-key|jwt|key|ssws|splunk)\s+$/i;
/** Allowed between placeholders. */
const SEPARATORS = /[\s:;,]/g;

/**
 * Whether responses mask the text of a credential field. They show empty texts and placeholders
 * (`{{TOKEN}}`, `Bearer {{TOKEN}}`): the secret is elsewhere.
 */
export function isCredential(text: string): boolean {
  const template = compileTemplate(text);
  if (template === null) return text.trim() !== '';
  return template.some((part, index) => {
    if (typeof part !== 'string') return false;
    const isScheme = index === 0 && SCHEME.test(part);
    return !isScheme && part.replace(SEPARATORS, '') !== '';
  });
}

/** RFC 9110 11.4: a scheme, blanks, and the credentials. */
const WITH_SCHEME = /^[A-Za-z][\w!#$%&'*+.^`|~-]*[ \t]+(\S.*)$/s;

/** What follows the scheme in the value of a header: `Bearer …`; null if there is none. */
export function afterScheme(value: string): string | null {
  return WITH_SCHEME.exec(value)?.[1] ?? null;
}
