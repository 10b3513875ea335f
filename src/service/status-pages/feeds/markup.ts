import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';

/** Characters that XML 1.0 cannot contain (section 2.2), and halves of surrogate pairs. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** A text in XML, in elements and attributes. What XML cannot contain becomes U+FFFD. */
export function xmlText(text: string): string {
  return htmlEscaped(text.replaceAll(NOT_XML, '\ufffd'));
}

/** An element with a text; attributes are given as they are written. */
export function element(name: string, text: string, attributes = ''): string {
  return `<${name}${attributes === '' ? '' : ` ${attributes}`}>${xmlText(text)}</${name}>`;
}
