const COLOURS: Readonly<Record<string, string>> = {
  trace: '\u001b[90m',
  debug: '\u001b[36m',
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31m',
};
const DIM = '\u001b[2m';
const RESET = '\u001b[0m';
const OWN_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/**
 * One log record (a line of JSON) as a line for people: `HH:MM:SS LEVEL message key=value`, in
 * local time. Returns text that cannot be parsed as it is. Ends with a line feed.
 */
export function prettyLine(json: string, colour: boolean): string {
  const record = parse(json);
  if (record === null) return json;
  const paint = (code: string, text: string): string => (colour ? `${code}${text}${RESET}` : text);
  const level = String(record.level ?? 'info');
  const parts = [
    paint(DIM, timeOfDay(record.time)),
    paint(COLOURS[level] ?? '', level.toUpperCase().padEnd(5)),
    printable(String(record.msg ?? '')),
  ];
  for (const [key, value] of Object.entries(record)) {
    if (OWN_FIELDS.has(key)) continue;
    parts.push(`${paint(DIM, `${printable(key)}=`)}${printable(valueText(value))}`);
  }
  return `${parts.join(' ')}\n`;
}

function parse(json: string): Record<string, unknown> | null {
  try {
    const record: unknown = JSON.parse(json);
    return typeof record === 'object' && record !== null ? { ...record } : null;
  } catch {
    return null;
  }
}

function timeOfDay(time: unknown): string {
  const date = new Date(typeof time === 'string' ? time : Number.NaN);
  if (Number.isNaN(date.getTime())) return '--:--:--';
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@+[\]-]+$/.test(value) ? value : quoted(value);
  if (isError(value)) return `${quoted(value.message)}${firstFrame(value.stack)}`;
  return quoted(value);
}

function quoted(value: unknown): string {
  return JSON.stringify(value);
}

function isError(value: unknown): value is { message: string; stack: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string' &&
    'stack' in value &&
    typeof value.stack === 'string'
  );
}

/** Where the error was thrown; a whole stack would break the line. */
function firstFrame(stack: string): string {
  const frame = /\n\s+at (.+)/.exec(stack)?.[1];
  return frame === undefined ? '' : ` at ${quoted(frame)}`;
}

/** Escapes control characters, which could forge lines or control the terminal. */
function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
