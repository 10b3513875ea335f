import type { z } from 'zod';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { allowedBy, keysAt, schemaAt } from '../common/schema-info.ts';
import { mayBeSecret } from './secret-fields.ts';

const MAX_SHOWN_CHARS = 60;
/** Units of fields whose names do not contain them. */
const UNITS: Readonly<Record<string, string>> = {
  frequency: 'minutes; 0: every frequencyOffset seconds',
  degradedResponseTime: 'milliseconds',
  maxResponseTime: 'milliseconds',
  degradedPacketLossThreshold: 'percent',
  maxPacketLossThreshold: 'percent',
};

/**
 * The problem with a value, as the rest of a sentence after its path: what is allowed, and the
 * value unless it may be a secret. `path` is the issue's own, from the schema's root.
 */
export function issueText(
  issue: z.core.$ZodIssue,
  schema: z.core.$ZodType,
  value: unknown,
): string {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  const shown = shownValue(value, path);
  if (issue.code === 'custom') return customText(issue.message, schema, path, value);
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return `must have at most ${issue.maximum} items`;
  }
  const at = schemaAt(schema, path);
  const allowed = at === null ? issue.message : allowedBy(at, UNITS[String(path.at(-1))] ?? null);
  if (value === undefined) return `is missing; it must be ${allowed}`;
  return `must be ${allowed}${shown}${hint(issue, value, path)}`;
}

/** Text fields for which users often write a mapping, because the text is usually JSON. */
const PAYLOADS: readonly unknown[] = ['body', 'data', 'target'];

/** The message of a rule of ours, with a hint for frequent mistakes. */
function customText(
  message: string,
  schema: z.core.$ZodType,
  path: DocumentPath,
  value: unknown,
): string {
  const shown = shownValue(value, path);
  if (typeof value !== 'string') return message + shown;
  if (path.at(-1) === 'url' && isOnlyPortWrong(value)) {
    return `must have a port from 1 to 65535${shown}`;
  }
  const hasPort = /^(\[[^\]]+\]|[^:]+):\d{1,5}$/.test(value);
  const siblings = keysAt(schema, path.slice(0, -1));
  const isHost = path.at(-1) === 'hostname' || path.at(-1) === 'nameServer';
  const hint = hasPort && isHost && siblings.includes('port') ? '; the port goes into port' : '';
  return message + shown + hint;
}

function isOnlyPortWrong(url: string): boolean {
  const parts = /^(https?:\/\/[^/?#]*):[^/?#:@\]]+(?=[/?#]|$)/i.exec(url);
  return parts !== null && !URL.canParse(url) && URL.canParse(parts[1] ?? '');
}

/** `, not 70000`; nothing if the value is missing or may be a secret. */
export function shownValue(value: unknown, path: DocumentPath): string {
  if (value === undefined) return '';
  if (value === null) return ', not null';
  if (Array.isArray(value)) return ', not a list';
  if (typeof value === 'object') return ', not a mapping';
  if (mayBeSecret(path, value)) return ' (the value is not shown here)';
  if (typeof value !== 'string') return `, not ${String(value)}`;
  return value.length > MAX_SHOWN_CHARS
    ? `, not text of ${value.length} characters`
    : `, not ${JSON.stringify(value)}`;
}

function hint(issue: z.core.$ZodIssue, value: unknown, path: DocumentPath): string {
  const isInQuotes = typeof value === 'string' && isScalarText(value, issue);
  if (isInQuotes) return mayBeSecret(path, value) ? '' : `; take the quotes off: ${value}`;
  if (issue.code === 'invalid_value' && typeof value === 'string') {
    const nearest = nearestName(value, issue.values.map(String));
    return nearest === null ? '' : `; did you mean ${nearest}?`;
  }
  const isBareScalar = typeof value === 'number' || typeof value === 'boolean';
  if (issue.code === 'invalid_type' && issue.expected === 'string' && isBareScalar) {
    return mayBeSecret(path, value)
      ? '; put it in quotes'
      : `; put it in quotes: "${String(value)}"`;
  }
  const isPayload = PAYLOADS.includes(path.at(-1));
  if (isPayload && issue.code === 'invalid_type' && typeof value === 'object' && value !== null) {
    return '; write it as text, in quotes or after |';
  }
  return '';
}

/** Whether a text would be a value of the expected kind without its quotes. */
function isScalarText(text: string, issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_value') {
    return issue.values.some((allowed) => typeof allowed !== 'string' && String(allowed) === text);
  }
  if (issue.code !== 'invalid_type') return false;
  if (issue.expected === 'boolean') return text === 'true' || text === 'false';
  return /^(number|int)$/.test(issue.expected) && /^-?\d+(\.\d+)?$/.test(text);
}

/** The problem with an unknown key, as the rest of a sentence after its path. */
export function unknownKeyText(key: string, known: readonly string[]): string {
  if (/^\w+:./.test(key)) return 'is not a known key; put a space after the colon';
  const nearest = nearestName(key, known);
  if (nearest !== null) return `is not a known key; did you mean ${nearest}?`;
  return `is not a known key; known here: ${known.join(', ')}`;
}

export function valueAt(body: unknown, path: DocumentPath): unknown {
  let at = body;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}
