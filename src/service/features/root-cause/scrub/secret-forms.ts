/**
 * Regular expressions for a secret in whatever form it may stand in a text: SEMANTICS 2. Each
 * character may stand as itself, escaped for JSON (also JSON inside JSON), for a URL (also twice)
 * or for HTML; the whole also as base64, base64url and hexadecimal digits.
 */

const MIN_CHARS = 4;
/** Deeper escaping is cut short, so that no text makes the expression slow. */
const BACKSLASHES = '\\\\{1,15}';
/** A longer one is looked for in pieces: so a part of it is found, too. */
const MAX_CHARS = 512;
/** No secrets, whoever calls them so. */
const PLAIN_WORDS: ReadonlySet<string> = new Set([
  'http://',
  'https://',
  'true',
  'false',
  'null',
  'undefined',
]);

const HTML_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};
const JSON_LETTERS: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};

/** Whether the value is one whose every occurrence may be masked without masking half of a text. */
export function isSecretWorthy(value: string): boolean {
  return [...value].length >= MIN_CHARS && /[\p{L}\p{N}]/u.test(value) && !PLAIN_WORDS.has(value);
}

/** One or several of the forms of a secret. */
export interface SecretForm {
  /** A text that holds none of these does not hold the form. */
  readonly probes: readonly string[];
  /** The source of an expression with the flag u. */
  readonly pattern: () => string;
}

/** All forms of a secret, or of the pieces of a long one. */
export function formsOfSecret(secret: string): readonly SecretForm[] {
  const characters = [...secret];
  const count = Math.ceil(characters.length / MAX_CHARS);
  // Of like lengths, so that none is too short to be looked for.
  const each = Math.ceil(characters.length / count);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * each, (index + 1) * each).join(''),
  )
    .filter(isSecretWorthy)
    .flatMap(formsOfPiece);
}

function formsOfPiece(value: string): readonly SecretForm[] {
  const written = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(wellFormed(value)),
  ];
  const cores = new Set([...new Set(written)].flatMap(base64Cores));
  const hex = Buffer.from(value).toString('hex');
  return [
    { probes: [longestRun(value)], pattern: () => textPattern(value) },
    ...[...cores].map((core) => ({
      probes: [longestRun(core)],
      pattern: () => `${base64Pattern(core)}[\\w+/-]?={0,2}`,
    })),
    { probes: [hex, hex.toUpperCase()], pattern: () => anyCase(hex) },
  ];
}

/** Of the letters and digits that every form leaves as they are. */
function longestRun(text: string): string {
  const runs = text.match(/[A-Za-z0-9]+/g) ?? [];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

/** Each character in any of its forms. */
function textPattern(text: string): string {
  const parts = text.match(/\\+|[\s\S]/gu) ?? [];
  return parts.map((part) => (part.startsWith('\\') ? backslashes(part) : formsOf(part))).join('');
}

/** A run of them is one part: several in a row would make the expression slow. */
function backslashes({ length }: string): string {
  const one = `%(?:25)*5[cC]|${BACKSLASHES}u005[cC]|&(?:amp;)*#(?:0*92|[xX]0*5[cC]);?`;
  return `(?:\\\\{${length},${length * 15}}|(?:${one}){${length}})`;
}

function formsOf(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hexCode = anyCase(code.toString(16));
  const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'));
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const name = HTML_NAMES[character];
  const letter = JSON_LETTERS[character];
  return `(?:${[
    `\\u{${code.toString(16)}}`,
    ...(character === ' ' ? ['\\+'] : []),
    ...(character === '"' || character === "'" || character === '/'
      ? [`${BACKSLASHES}${character}`]
      : []),
    ...(letter === undefined ? [] : [`${BACKSLASHES}${letter}`]),
    units.map((unit) => `${BACKSLASHES}u${anyCase(unit)}`).join(''),
    bytes.map((byte) => `%(?:25)*${anyCase(byte)}`).join(''),
    `&(?:amp;)*#(?:0*${code}|[xX]0*${hexCode});?`,
    ...(name === undefined ? [] : [`&(?:amp;)*${name};`]),
  ].join('|')})`;
}

/**
 * What base64 makes of the bytes wherever they begin in a longer text: the digits that come of
 * them alone, for each of the three alignments (RFC 4648 4).
 */
function base64Cores(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((before * 8) / 6), whole);
  });
}

function base64Pattern(core: string): string {
  return core.replaceAll(/[+/]/g, (digit) =>
    digit === '+' ? `(?:-|${formsOf('+')})` : `(?:_|${formsOf('/')})`,
  );
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** encodeURIComponent throws for half of a pair. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}
