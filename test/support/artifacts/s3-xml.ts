/** A refusal with S3's error code. */
export class S3Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type XmlValue = string | number | boolean | { readonly [name: string]: XmlContent };
type XmlContent = XmlValue | readonly XmlValue[] | null;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function inner(value: XmlContent): string {
  if (value === null) return '';
  if (typeof value !== 'object') return escaped(String(value));
  return Object.entries(value)
    .map(([name, content]) => element(name, content))
    .join('');
}

/** A list becomes one element per entry; null becomes nothing. */
function element(name: string, content: XmlContent): string {
  if (content === null) return '';
  const all: readonly XmlValue[] = Array.isArray(content) ? content : [content];
  return all.map((value) => `<${name}>${inner(value)}</${name}>`).join('');
}

export function xmlDocument(
  name: string,
  content: { readonly [name: string]: XmlContent },
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner(content)}</${name}>`;
}

/** The parts of a CompleteMultipartUpload document. */
export function parseParts(text: string): { readonly n: number; readonly etag: string }[] {
  return [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
    n: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? '').replaceAll('&quot;', '"'),
  }));
}
