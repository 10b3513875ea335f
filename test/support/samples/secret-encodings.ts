/** Ways in which a program encodes a text inside another, by name. */
export const ENCODERS: Readonly<Record<string, (text: string) => string>> = {
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json in ASCII': (text) => asciiJson(text),
  'json with escaped slashes': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  url: (text) => encodeURIComponent(text.toWellFormed()),
  'url with plus': (text) => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+'),
  'url in small letters': (text) =>
    encodeURIComponent(text.toWellFormed()).replaceAll(/%../g, (code) => code.toLowerCase()),
  'url as in forms': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'url of all that is special': (text) => percent(text, (byte) => !isAlnum(byte)),
  'url of everything': (text) => percent(text, () => true),
  html: (text) =>
    text.replaceAll(
      /[&<>"']/g,
      (character) => `&${HTML[character] ?? `#${character.charCodeAt(0)}`};`,
    ),
  'html in numbers': (text) =>
    references(
      text,
      (code) => `&#${code};`,
      (code) => !isAlnum(code),
    ),
  'html in hex': (text) =>
    references(
      text,
      (code) => `&#x${code.toString(16)};`,
      (code) => !isAlnum(code),
    ),
  'html of everything': (text) =>
    references(
      text,
      (code) => `&#X${code.toString(16).toUpperCase()};`,
      () => true,
    ),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 after a letter': (text) => Buffer.from(`a${text}`).toString('base64'),
  'base64 after two letters': (text) => Buffer.from(`ab${text}`).toString('base64'),
  'base64 before more': (text) => Buffer.from(`a${text}zyx`).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
};

/** The forms in which a text may leave a program, by name. */
export function encodingsOf(text: string): Readonly<Record<string, string>> {
  const once = Object.entries(ENCODERS).map(([name, encode]) => [name, encode(text)] as const);
  return {
    plain: text,
    ...Object.fromEntries(once),
    'json in json': jsonOf(jsonOf(text)),
    'url twice': encodeURIComponent(encodeURIComponent(text.toWellFormed())),
    'base64 of JSON': Buffer.from(JSON.stringify({ value: text })).toString('base64'),
  };
}

const HTML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };

function jsonOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function asciiJson(text: string): string {
  return jsonOf(text).replaceAll(
    /[\u0080-\uffff<>&'/]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function percent(text: string, isEncoded: (byte: number) => boolean): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      isEncoded(byte)
        ? `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
        : String.fromCharCode(byte),
    )
    .join('');
}

function references(
  text: string,
  written: (code: number) => string,
  isEncoded: (code: number) => boolean,
): string {
  return [...text]
    .map((character) => character.codePointAt(0) ?? 0)
    .map((code) => (isEncoded(code) ? written(code) : String.fromCodePoint(code)))
    .join('');
}

function isAlnum(code: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCodePoint(code));
}
