import { cutText } from '../../runtime/text/cut-text.ts';
import { MARGIN_CHARS } from '../secrets/cut-scrubbed.ts';

/** Maximum length of `actual` in an assertion's result (src/model/README.md, "Assertions"). */
export const MAX_ACTUAL_BYTES = 10 * 1024;
/** Maximum length before scrubbing, which needs the margin. */
const MAX_PREVIEW_BYTES = MAX_ACTUAL_BYTES + MARGIN_CHARS;

const MAX_DEPTH = 200;

/**
 * A value as text: text unchanged, everything else as JSON, cut at 18 KB; null for null. The work
 * is bounded by the length of the preview, not by the size of the value.
 */
export function previewOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return cutText(value, MAX_PREVIEW_BYTES);
  const writer: Writer = { parts: [], leftChars: MAX_PREVIEW_BYTES };
  write(value, writer, 0);
  return cutText(writer.parts.join(''), MAX_PREVIEW_BYTES);
}

interface Writer {
  readonly parts: string[];
  leftChars: number;
}

function write(value: unknown, writer: Writer, depth: number): void {
  if (writer.leftChars <= 0) return;
  if (typeof value === 'string') put(writer, JSON.stringify(value.slice(0, writer.leftChars)));
  else if (typeof value !== 'object' || value === null) put(writer, String(value));
  else if (depth === MAX_DEPTH) put(writer, '…');
  else if (Array.isArray(value)) writeList(value, writer, depth);
  else writeObject(value, writer, depth);
}

function writeList(list: readonly unknown[], writer: Writer, depth: number): void {
  put(writer, '[');
  for (let at = 0; at < list.length && writer.leftChars > 0; at += 1) {
    if (at > 0) put(writer, ',');
    write(list[at], writer, depth + 1);
  }
  put(writer, ']');
}

function writeObject(object: object, writer: Writer, depth: number): void {
  put(writer, '{');
  let isFirst = true;
  // Values of responses are plain objects from JSON: `for in` visits own keys, one at a time.
  for (const key in object) {
    if (writer.leftChars <= 0) break;
    if (!isFirst) put(writer, ',');
    isFirst = false;
    put(writer, `${JSON.stringify(key.slice(0, writer.leftChars))}:`);
    write((object as Record<string, unknown>)[key], writer, depth + 1);
  }
  put(writer, '}');
}

function put(writer: Writer, text: string): void {
  writer.parts.push(text);
  writer.leftChars -= text.length;
}
