import { SaxesParser } from 'saxes';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/**
 * The root of a document.
 *
 * @throws Error where it is not well-formed XML 1.0 with namespaces
 */
export function xmlTree(document: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const values = Object.entries(attributes).map(([key, { value }]) => [key, value] as const);
    const made = { name, attributes: Object.fromEntries(values), children: [], text: '' };
    open.at(-1)?.children.push(made);
    open.push(made);
  });
  parser.on('text', (text) => {
    const current = open.at(-1);
    if (current !== undefined) current.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(document).close();
  const [only] = root.children;
  if (only === undefined) throw new Error('the document has no root');
  return only;
}

/** The children with this name. */
export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The text of the only child with this name. */
export function textOf(element: XmlElement, name: string): string {
  const [child, ...others] = childrenOf(element, name);
  if (child === undefined || others.length > 0) {
    throw new Error(`${element.name} has not one ${name}`);
  }
  return child.text;
}
