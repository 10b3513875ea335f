import { compileTemplate } from '../check/template.ts';

/** The template name by which the service replaces a credential that it cannot decrypt. */
export const NOT_READABLE_NAME = 'CREDENTIAL_NOT_READABLE';

/** Older agents have no variable of this name either, and send nothing. */
export const NOT_READABLE = `{{${NOT_READABLE_NAME}}}`;

/** Texts that grow beyond this are replaced as a whole: agents refuse longer ones. */
const MAX_GROWN_CHARS = 1000;

/**
 * The request of a check with these variables replaced by that template, so that no other variable
 * of the same name is used. Assertions take no templates.
 *
 * @param names of the check's own secret variables that cannot be decrypted
 */
export function withNotReadable(request: unknown, names: ReadonlySet<string>): unknown {
  if (names.size === 0) return request;
  if (typeof request === 'string') return replaced(request, names);
  if (Array.isArray(request)) return request.map((one) => withNotReadable(one, names));
  if (typeof request !== 'object' || request === null) return request;
  return Object.fromEntries(
    Object.entries(request).map(([field, value]) => {
      return [field, field === 'assertions' ? value : withNotReadable(value, names)];
    }),
  );
}

function replaced(text: string, names: ReadonlySet<string>): string {
  const template = compileTemplate(text);
  if (template === null) return text;
  let isNamed = false;
  const parts = template.map((part) => {
    if (typeof part === 'string') return part;
    const { name, isRaw } = part;
    if (!names.has(name)) return isRaw ? `{{{${name}}}}` : `{{${name}}}`;
    isNamed = true;
    return NOT_READABLE;
  });
  if (!isNamed) return text;
  const whole = parts.join('');
  return whole.length > Math.max(text.length, MAX_GROWN_CHARS) ? NOT_READABLE : whole;
}
