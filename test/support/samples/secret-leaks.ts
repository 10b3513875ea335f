import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { encodingsOf } from './secret-encodings.ts';

/** Every kind of character that a password may contain. */
export const KINDS = [
  'abcxyzABCXYZ',
  '0123456789',
  `"'\\/`,
  '%+&=?#',
  '<>(){}[]',
  '!$*,-.:;@^_`|~',
  ' \t',
  'éßœ€',
  '😀漢',
];
/** Characters that a header can contain. */
export const HEADER_KINDS = KINDS.slice(0, 6);

/** As in seeded.ts: two runs of CI try the same secrets. */
const SEED = process.env.FUZZ_SEED ?? randomBytes(8).toString('hex');

/**
 * At least one of each kind, each at its own position.
 *
 * @param name of the secret: the same seed gives the same secret
 */
export function secretOf(name: string, kinds: readonly string[]): string {
  let drawn = 0;
  const draw = (): Buffer => {
    drawn += 1;
    return createHash('sha256').update(`${SEED}/${name}/${drawn}`).digest();
  };
  const chosen = [...kinds, ...kinds, ...kinds].map((kind) => {
    const letters = [...kind];
    return letters[draw().readUInt32BE() % letters.length] ?? 'x';
  });
  const shuffled = chosen.map((letter) => ({ letter, at: draw().readUInt32BE() }));
  shuffled.sort((one, other) => one.at - other.at);
  const word = shuffled.map(({ letter }) => letter).join('');
  const end = (): string => draw().toString('hex', 0, 3);
  return `${end()}${word}${end()}`;
}

/** Compression does not hide a secret: anybody can decompress it. */
export function unpacked(bytes: Buffer): Buffer {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/** This much of a form is still a secret, if it is cut. */
const PART_CHARS = 30;

/**
 * Where a secret or its beginning is visible, by the names of the secret, its form and the text.
 */
export function leaksOf(
  secrets: Readonly<Record<string, string>>,
  places: Readonly<Record<string, Buffer>>,
): readonly string[] {
  return Object.entries(places).flatMap(([place, bytes]) => {
    const text = unpacked(bytes).toString('utf8');
    return Object.entries(secrets).flatMap(([name, secret]) =>
      Object.entries(encodingsOf(secret)).flatMap(([form, encoded]) => {
        // The ends of base64 depend on the adjacent bytes.
        const core = form.startsWith('base64') ? encoded.slice(4, -6) : encoded;
        return text.includes(core.slice(0, PART_CHARS)) ? [`${name} as ${form} in ${place}`] : [];
      }),
    );
  });
}
