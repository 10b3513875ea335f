import { htmlEscaped } from '../../runtime/text/html-escaped.ts';

/** Escapes the text of a variable for a body. */
export type Escape = (text: string) => string;

const unescaped: Escape = (text) => text;

/** For the inside of a JSON string. */
const forJson: Escape = (text) => JSON.stringify(text).slice(1, -1);

/** For a value in application/x-www-form-urlencoded. */
const forForm: Escape = (text) => encodeURIComponent(text).replaceAll('%20', '+');

/** Chooses the escaping by the content type of the body: JSON, form, HTML, XML; others need none. */
export function escapeFor(contentType: string): Escape {
  const [type = ''] = contentType.toLowerCase().split(';');
  const essence = type.trim();
  if (essence === 'application/json' || essence.endsWith('+json')) return forJson;
  if (essence === 'application/x-www-form-urlencoded') return forForm;
  if (essence === 'text/html' || /(?:\/|\+)xml$/.test(essence)) return htmlEscaped;
  return unescaped;
}
