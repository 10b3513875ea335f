/** How a variable's text becomes part of a body. */
export type Escape = (text: string) => string;

const asItIs: Escape = (text) => text;

/** Inside of the quotes of a JSON text. */
const forJson: Escape = (text) => JSON.stringify(text).slice(1, -1);

/** A part of application/x-www-form-urlencoded. */
const forForm: Escape = (text) => encodeURIComponent(text).replaceAll('%20', '+');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For HTML and XML, text and attributes in quotes. */
export const forHtml: Escape = (text) =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** By the content type of the body: JSON, a form, HTML and XML have their own; all else has none. */
export function escapeFor(contentType: string): Escape {
  const [type = ''] = contentType.toLowerCase().split(';');
  const essence = type.trim();
  if (essence === 'application/json' || essence.endsWith('+json')) return forJson;
  if (essence === 'application/x-www-form-urlencoded') return forForm;
  if (essence === 'text/html' || /(?:\/|\+)xml$/.test(essence)) return forHtml;
  return asItIs;
}
