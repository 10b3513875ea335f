import { MASK } from '../model/credentials/mask.ts';

/** Shorter parts of a secret are not masked: many texts contain them by chance. */
export const MIN_PART_CHARS = 8;
/** The limit for all forms together; the index takes 8 to 16 bytes per character. */
export const MAX_INDEXED_CHARS = 1_000_000;
/** The builder yields after this many. */
const CHARS_PER_STEP = 20_000;
const SECRETS_PER_STEP = 200;
/** The part of a URL before its path is not secret, except for the password. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/(?:([^/?#]*)@)?[^/?#]*(.*)$/is;

/**
 * Masks parts of secrets, of at least MIN_PART_CHARS characters, anywhere in a text.
 *
 * A mask confirms a correct guess of a part, so a secret could be guessed piece by piece. Therefore
 * parts are masked only in texts from a target, and only parts of secrets that the same attempt
 * sent to it: a target that did not receive a secret can only return guesses.
 */
export interface PartMask {
  /** One mask for parts that touch or overlap. Returns the same text if there are none. */
  text(text: string): string;
  holdsPart(text: string): boolean;
  /** Characters of secrets that do not fit the index: their parts are not masked. */
  readonly charsLeftOut: number;
}

export const NO_PARTS: PartMask = {
  text: (text) => text,
  holdsPart: () => false,
  charsLeftOut: 0,
};

/** Synchronous, for few secrets. */
export function createPartMask(secrets: readonly string[]): PartMask {
  const building = indexParts(secrets);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
  }
}

/** The same, but yields to the event loop about every millisecond. */
export async function buildPartMask(
  secrets: readonly string[],
  yieldToEventLoop: () => Promise<void>,
): Promise<PartMask> {
  const building = indexParts(secrets);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
    await yieldToEventLoop();
  }
}

/**
 * Puts each window of MIN_PART_CHARS characters of each form into a hash table of positions (open
 * addressing, at most half full).
 */
function* indexParts(secrets: readonly string[]): Generator<void, PartMask> {
  const forms: string[] = [];
  let chars = 0;
  let charsLeftOut = 0;
  for (const [index, secret] of secrets.entries()) {
    if (index % SECRETS_PER_STEP === SECRETS_PER_STEP - 1) yield;
    const own = charsLeftOut === 0 ? formsOf(secret) : [];
    const ownChars = own.reduce((sum, form) => sum + form.length, 0);
    // Once the index is full, later secrets are skipped.
    if (charsLeftOut > 0 || chars + ownChars > MAX_INDEXED_CHARS) charsLeftOut += secret.length;
    else {
      chars += ownChars;
      forms.push(...own);
    }
  }
  if (forms.length === 0) return { ...NO_PARTS, charsLeftOut };
  yield;

  const all = forms.join('');
  const size = 2 ** Math.ceil(Math.log2(chars * 2));
  const table = new Int32Array(size);
  const isAt = (text: string, from: number, position: number): boolean => {
    for (let at = 0; at < MIN_PART_CHARS; at += 1) {
      if (text.charCodeAt(from + at) !== all.charCodeAt(position + at)) return false;
    }
    return true;
  };
  /** The bucket that contains the window, or the free one for it. */
  const bucketOf = (text: string, from: number): number => {
    let bucket = hashOf(text, from) & (size - 1);
    for (;;) {
      const stored = table[bucket] ?? 0;
      if (stored === 0 || isAt(text, from, stored - 1)) return bucket;
      bucket = (bucket + 1) & (size - 1);
    }
  };
  let start = 0;
  let sinceStep = 0;
  for (const form of forms) {
    for (let from = start; from + MIN_PART_CHARS <= start + form.length; from += 1) {
      if (isVaried(all, from)) table[bucketOf(all, from)] ||= from + 1;
      sinceStep += 1;
      if (sinceStep % CHARS_PER_STEP === 0) yield;
    }
    start += form.length;
  }
  const isPart = (text: string, from: number): boolean => (table[bucketOf(text, from)] ?? 0) !== 0;
  return maskOf(isPart, charsLeftOut);
}

function maskOf(isPart: (text: string, from: number) => boolean, charsLeftOut: number): PartMask {
  return {
    charsLeftOut,
    text(text) {
      let masked = '';
      let done = 0;
      let partEnd = -1;
      for (let from = 0; from + MIN_PART_CHARS <= text.length; from += 1) {
        if (!isPart(text, from)) continue;
        if (from > partEnd) {
          masked += text.slice(done, from) + MASK;
        }
        partEnd = from + MIN_PART_CHARS;
        done = partEnd;
      }
      return partEnd === -1 ? text : masked + text.slice(done);
    },
    holdsPart(text) {
      for (let from = 0; from + MIN_PART_CHARS <= text.length; from += 1) {
        if (isPart(text, from)) return true;
      }
      return false;
    },
  };
}

/** A part with fewer than three different characters is a line or a filler: `--------`. */
function isVaried(text: string, from: number): boolean {
  const first = text.charCodeAt(from);
  let second = first;
  for (let at = from + 1; at < from + MIN_PART_CHARS; at += 1) {
    const code = text.charCodeAt(at);
    if (code === first || code === second) continue;
    if (second !== first) return true;
    second = code;
  }
  return false;
}

/** FNV-1a, by UTF-16 units. */
function hashOf(text: string, from: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < from + MIN_PART_CHARS; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The encodings of a value from which a target may return parts. */
function formsOf(secret: string): readonly string[] {
  const address = ADDRESS.exec(secret);
  if (address === null) return encodingsOf(secret);
  const [, userinfo = '', rest = ''] = address;
  return [userinfo.replace(/^[^:]*:/, ''), rest].flatMap(encodingsOf);
}

function encodingsOf(text: string): readonly string[] {
  if (text.length < MIN_PART_CHARS) return [];
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  const forms = [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_PART_CHARS);
}

/** The base64 and base64url digits of the bytes alone, behind `before` other bytes. */
function inBase64(bytes: Buffer, before: number): readonly string[] {
  const padded = Buffer.concat([Buffer.alloc(before), bytes]);
  // Excludes digits that also contain bits of neighbouring bytes.
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  const text = padded.toString('base64').slice(from, to);
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
