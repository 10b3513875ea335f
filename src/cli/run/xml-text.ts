import { htmlEscaped } from '../../runtime/text/html-escaped.ts';

/** Control characters except the line feed, and what XML does not allow (XML 1.0, 2.2). */
const REMOVED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\p{Cs}/gu;

/** Escapes a text for the content of an element. */
export function xmlText(text: string): string {
  return htmlEscaped(text.replace(REMOVED, ''));
}

/** An element with its attributes, and its content as XML: elements, and what `xmlText` returned. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: readonly string[] = [],
): string {
  // Parsers replace a line feed in an attribute by a space (XML 1.0, 3.3.3).
  const attributeText = (value: string | number): string =>
    xmlText(String(value)).replaceAll('\n', '&#10;');
  const given = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${attributeText(value)}"`,
  );
  const start = `<${name}${given.join('')}`;
  return content.length === 0 ? `${start}/>` : `${start}>${content.join('')}</${name}>`;
}
