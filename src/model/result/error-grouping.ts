import { createHash } from 'node:crypto';
import { AMOUNT, CLOCK, DAY, IPV4, IPV6, UNIT } from './date-and-address-patterns.ts';

/** Maximum UTF-16 units of a message that are processed and saved. */
export const MAX_ERROR_MESSAGE_CHARS = 10_240;

interface Rule {
  /** The source of a regular expression without capture groups. */
  readonly pattern: string;
  /** Replaces a match. */
  readonly placeholder: string | ((found: string, before: string) => string);
}

/** Not within a word or directly behind it. */
const BEGIN = '(?<![0-9a-z])';
const END = '(?![0-9a-z])';
/** As BEGIN, and not within a version behind letters, as in TLSv1.3. */
const NUMBER_BEGIN = '(?<![0-9a-z]|[a-z]\\d{1,3}\\.)';

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';

/**
 * Messages of assertions (src/agent/assertions/evaluate-assertion.ts) contain the expectation of
 * the check, which identifies an error, and the value of the target, which does not.
 */
const ASSERTION_RULES: readonly Rule[] = [
  // RFC 9535 2.3.1: the only notation for names such as user-id.
  {
    pattern: `(?<=[$\\w\\]*.])\\[(?:'[^'\\\\\\]]{1,100}'|"[^"\\\\\\]]{1,100}")\\]`,
    placeholder: unchanged,
  },
  { pattern: `(?<=\\b(?:the match of|to have the key) )${QUOTED}`, placeholder: unchanged },
  // Like a status, a response code identifies an error: NXDOMAIN or SERVFAIL.
  { pattern: '(?<=\\bthe response code .{0,60})"[0-9a-z]{1,20}"', placeholder: unchanged },
  // Lists and objects differ in length, and in where they are cut.
  { pattern: '(?<=, but it was )[[{].*', placeholder: '<json>' },
  // V8 quotes the text around the token with its quotation marks.
  {
    pattern: '\\bUnexpected token .{1,200}? is not valid JSON',
    placeholder: 'Unexpected token <value> is not valid JSON',
  },
];

/**
 * What differs from one occurrence of an error to the next, in order of precedence. Each pattern
 * can begin at few positions, and fails there after a bounded number of steps, or at a position
 * that no other start reaches. Therefore all patterns take time in proportion to the text.
 */
const TEXT_RULES: readonly Rule[] = [
  ...ASSERTION_RULES,
  {
    pattern: '(?<![0-9a-z+.-])[a-z][a-z0-9+.-]{1,20}:\\/\\/[^\\s"\'`<>\\\\^{|}\\u201c\\u201d]+',
    placeholder: cleanUrl,
  },
  // Quoted as in JSON. An escaped quotation mark does not begin a quotation.
  { pattern: `(?<!\\\\)${QUOTED}`, placeholder: '"<value>"' },
  { pattern: "(?<![0-9a-z'])'[^']*'(?![0-9a-z])", placeholder: "'<value>'" },
  { pattern: '`[^`]*`', placeholder: '`<value>`' },
  { pattern: '\\u201c[^\\u201c\\u201d]*\\u201d', placeholder: '\u201c<value>\u201d' },
  {
    pattern: '(?<![0-9a-z_.+-])[0-9a-z_.+-]{1,64}@[0-9a-z-]{1,63}(?:\\.[0-9a-z-]{1,63}){1,8}',
    placeholder: '<email>',
  },
];

/** Rules for words, also in the parts of a URL. */
const WORD_RULES: readonly Rule[] = [
  {
    pattern: `${BEGIN}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}${END}`,
    placeholder: '<uuid>',
  },
  { pattern: `${BEGIN}(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}${END}`, placeholder: '<mac>' },
  {
    pattern: `(?<![0-9a-z:])\\[?(?:${IPV6})(?:%[0-9a-z]{1,15})?(?![0-9a-z:])\\]?`,
    placeholder: '<ip>',
  },
  { pattern: `(?<![0-9a-z.])${IPV4}(?![0-9a-z]|\\.\\d)`, placeholder: '<ip>' },
  {
    pattern: `(?<=\\.[0-9a-z-]{1,63}|\\]|localhost):\\d{1,5}(?![0-9a-z]|[.:]\\d)`,
    placeholder: ':<port>',
  },
  {
    pattern: `${BEGIN}(?:${DAY})(?:(?:t|,? )${CLOCK})?(?: \\d{4})?${END}`,
    placeholder: '<time>',
  },
  { pattern: `${BEGIN}${CLOCK}(?![0-9a-z:])`, placeholder: '<time>' },
  {
    pattern: `${NUMBER_BEGIN}${AMOUNT} ?${UNIT}(?: ?${AMOUNT} ?${UNIT})*${END}`,
    placeholder: '<duration>',
  },
  {
    pattern: `${NUMBER_BEGIN}[-+]?\\d+(?:[.,]\\d+)*(?:e[-+]?\\d+)?${END}`,
    placeholder: cleanNumber,
  },
  { pattern: `${BEGIN}[0-9a-z]{6,}${END}`, placeholder: cleanWord },
];

interface Rules {
  readonly list: readonly Rule[];
  /** Matches any of the rules, with one group for each. */
  readonly any: RegExp;
}

const ALL = compiled([...TEXT_RULES, ...WORD_RULES]);
const OF_WORDS = compiled(WORD_RULES);

/**
 * The message on one line, with placeholders for everything that differs from one occurrence of the
 * same error to the next (src/service/README.md, "Error groups and test sessions"): ids, hashes,
 * numbers, addresses and ports, times, durations, quoted values, variable parts of URLs. Takes time
 * in proportion to the text, and cuts text and result to MAX_ERROR_MESSAGE_CHARS.
 */
export function cleanErrorMessage(raw: string): string {
  const text = cutTo(raw).replaceAll(TERMINAL_CODES, '').replaceAll(BLANKS, ' ').trim();
  return cutTo(replaced(text, ALL)).trim();
}

/** SHA-256 of the cleaned message in 64 hex digits, equal for the same error. */
export function errorHashOf(cleanedErrorMessage: string): string {
  return createHash('sha256').update(cleanedErrorMessage).digest('hex');
}

/** The start of a message that is saved. Never splits a surrogate pair. */
export function cutErrorMessage(raw: string): string {
  return cutTo(raw);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences of terminals
const TERMINAL_CODES = /\u001b\[[0-9;]{0,32}[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: removed from messages
const BLANKS = /[\s\u0000-\u001f\u007f]+/g;

function cutTo(text: string): string {
  if (text.length <= MAX_ERROR_MESSAGE_CHARS) return text;
  return text.slice(0, MAX_ERROR_MESSAGE_CHARS).replace(/[\ud800-\udbff]$/, '');
}

function compiled(list: readonly Rule[]): Rules {
  return { list, any: new RegExp(list.map(({ pattern }) => `(${pattern})`).join('|'), 'gi') };
}

function replaced(text: string, { list, any }: Rules): string {
  return text.replaceAll(any, (found: string, ...rest: unknown[]) => {
    const rule = list[rest.findIndex((group) => group !== undefined)];
    if (rule === undefined) return found;
    if (typeof rule.placeholder === 'string') return rule.placeholder;
    const offset = Number(rest[list.length]);
    return rule.placeholder(found, text.slice(Math.max(0, offset - STATUS_REACH_CHARS), offset));
  });
}

function unchanged(found: string): string {
  return found;
}

/** As in `the status code to equal 200, but it was 503`. */
const STATUS_REACH_CHARS = 48;

/** An HTTP status identifies an error: 404 is another error than 503. */
function cleanNumber(found: string, before: string): string {
  return /^[1-5]\d\d$/.test(found) && /\bstatus\b/i.test(before) ? found : '<number>';
}

/** Words of letters and digits: ids, but not TLSv1, IPv4, SHA256 or HTTP2. */
function cleanWord(found: string): string {
  const digits = found.replaceAll(/\D/g, '').length;
  if (digits === 0) return found;
  if (/^(?:0x)?[0-9a-f]+$/i.test(found)) return found.length >= 32 ? '<hash>' : '<id>';
  return found.length >= 8 && digits >= 2 ? '<id>' : found;
}

/** Retains the parts that identify the service: scheme, host, and path segments that are words. */
function cleanUrl(found: string): string {
  const url = withoutEnd(found);
  const [, scheme = '', authority = '', path = '', query, fragment] =
    /^([^:]*:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url) ?? [];
  // Drops user and password.
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{1,5}$/, ':<port>');
  const rest = found.slice(url.length);
  return [
    scheme,
    replaced(host, OF_WORDS),
    replaced(path, OF_WORDS),
    query === undefined ? '' : '?<query>',
    fragment === undefined ? '' : '#<fragment>',
    rest,
  ].join('');
}

/** Without the punctuation of the sentence around it. */
function withoutEnd(url: string): string {
  let end = url.length;
  while (end > 0 && '.,;:!?)]'.includes(url.charAt(end - 1))) end -= 1;
  return url.slice(0, end);
}
