/** What XML 1.0 has no way to contain (section 2.2), and halves of surrogate pairs. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text in XML, in elements and attributes. What XML cannot contain becomes U+FFFD. */
export function xmlText(text: string): string {
  return htmlText(text.replaceAll(NOT_XML, '\ufffd'));
}

/** A text in HTML. */
export function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

/** An element with a text; attributes are given as they are written. */
export function element(name: string, text: string, attributes = ''): string {
  return `<${name}${attributes === '' ? '' : ` ${attributes}`}>${xmlText(text)}</${name}>`;
}
