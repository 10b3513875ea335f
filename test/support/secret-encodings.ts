/** A text in the forms in which it may leave a program, by their names. */
export function encodingsOf(text: string): Readonly<Record<string, string>> {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(
    /[\u0080-\uffff<>&'/]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const url = encodeURIComponent(text);
  const all = [...text].map((character) => character.codePointAt(0) ?? 0);
  return {
    plain: text,
    json,
    'json in json': JSON.stringify(json).slice(1, -1),
    'json in ASCII': ascii,
    'json with escaped slashes': json.replaceAll('/', '\\/'),
    url,
    'url with plus': url.replaceAll('%20', '+'),
    'url in small letters': url.replaceAll(/%../g, (code) => code.toLowerCase()),
    'url twice': encodeURIComponent(url),
    'url of all that is special': [...Buffer.from(text)]
      .map((byte) => {
        const character = String.fromCharCode(byte);
        return /[A-Za-z0-9]/.test(character)
          ? character
          : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
      })
      .join(''),
    html: text.replaceAll(
      /[&<>"']/g,
      (character) => `&${HTML[character] ?? `#${character.charCodeAt(0)}`};`,
    ),
    'html in numbers': all
      .map((code) => (isAlnum(code) ? String.fromCodePoint(code) : `&#${code};`))
      .join(''),
    'html in hex': all
      .map((code) => (isAlnum(code) ? String.fromCodePoint(code) : `&#x${code.toString(16)};`))
      .join(''),
    base64: Buffer.from(text).toString('base64'),
    base64url: Buffer.from(text).toString('base64url'),
    'base64 of JSON': Buffer.from(JSON.stringify({ value: text })).toString('base64'),
    'base64 after a letter': Buffer.from(`a${text}`).toString('base64'),
    'base64 after two letters': Buffer.from(`ab${text}`).toString('base64'),
    hex: Buffer.from(text).toString('hex'),
  };
}

const HTML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };

function isAlnum(code: number): boolean {
  return /[A-Za-z0-9]/.test(String.fromCodePoint(code));
}
