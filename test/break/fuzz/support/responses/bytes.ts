import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';

/** A file of the corpus; `name` describes it. */
export interface CorpusFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** All files of one kind, by their extension, sorted by name. */
export function corpusOf(folder: 'dns' | 'http', ending: string): readonly CorpusFile[] {
  const url = new URL(`../../../corpus/${folder}/`, import.meta.url);
  return readdirSync(url)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => ({ name, bytes: readFileSync(new URL(name, url)) }));
}

/** Octets with a meaning in DNS or HTTP. */
const TELLING_OCTETS = [
  0, 1, 0x09, 0x0a, 0x0d, 0x20, 0x2c, 0x30, 0x31, 0x39, 0x3a, 0x3b, 0x3f, 0x40, 0x7f, 0x80, 0xbf,
  0xc0, 0xc0, 0xff,
];
const TELLING_WORDS = [0, 1, 2, 12, 0x3f, 0x7fff, 0x8000, 0xc000, 0xc00c, 0xfffe, 0xffff];
/** The limit of repeating a part: other cases are made large on purpose. */
const MAX_BYTES = 65_000;

/** One mutation of some bytes; positions are shares of the length in 65,536ths. */
type Change = (bytes: Buffer) => Buffer;

const place = fc.nat(0xffff);
const at = (share: number, bytes: Buffer): number =>
  Math.floor((share * (bytes.length + 1)) / 65_536);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, fc.nat(7)).map(
    ([where, bit]): Change =>
      (bytes) =>
        setAt(bytes, at(where, bytes), (octet) => octet ^ (1 << bit)),
  ),
  fc.tuple(place, fc.constantFrom(...TELLING_OCTETS)).map(
    ([where, octet]): Change =>
      (bytes) =>
        setAt(bytes, at(where, bytes), () => octet),
  ),
  fc.tuple(place, fc.constantFrom(...TELLING_WORDS)).map(
    ([where, word]): Change =>
      (bytes) => {
        const start = at(where, bytes);
        if (start + 2 > bytes.length) return bytes;
        const copy = Buffer.from(bytes);
        copy.writeUInt16BE(word, start);
        return copy;
      },
  ),
  place.map(
    (where): Change =>
      (bytes) =>
        bytes.subarray(0, at(where, bytes)),
  ),
  fc.tuple(place, fc.nat(64)).map(
    ([where, length]): Change =>
      (bytes) => {
        const start = at(where, bytes);
        return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)]);
      },
  ),
  fc.tuple(place, fc.nat(64), place, fc.constantFrom(1, 1, 1, 2, 3, 50, 400)).map(
    ([from, length, to, times]): Change =>
      (bytes) => {
        const start = at(from, bytes);
        const part = bytes.subarray(start, start + length);
        const room = Math.max(0, MAX_BYTES - bytes.length);
        const fitting = Math.min(times, Math.floor(room / Math.max(1, part.length)));
        const target = at(to, bytes);
        const copies = Array.from({ length: fitting }, () => part);
        return Buffer.concat([bytes.subarray(0, target), ...copies, bytes.subarray(target)]);
      },
  ),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 12 })).map(
    ([where, added]): Change =>
      (bytes) => {
        const start = at(where, bytes);
        return Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start)]);
      },
  ),
);

/** Bits flipped, octets and lengths replaced, parts truncated, removed, repeated and inserted. */
export function mutated(base: fc.Arbitrary<Buffer>, maxChanges = 5): fc.Arbitrary<Buffer> {
  const changes = fc.array(change, { minLength: 1, maxLength: maxChanges });
  return fc
    .tuple(base, changes)
    .map(([bytes, list]) => list.reduce((changed, apply) => apply(changed), bytes));
}

export function randomBytes(maxLength: number): fc.Arbitrary<Buffer> {
  return fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));
}

/** Where to cut bytes into segments: lengths of the first ones; the rest is the last. */
export const segmentLengths = fc.oneof(
  { weight: 5, arbitrary: fc.constant<readonly number[]>([]) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant<readonly number[]>(new Array<number>(40).fill(1)) },
);

export function segmentsOf(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const segments: Buffer[] = [];
  let start = 0;
  for (const length of lengths) {
    if (start >= bytes.length) break;
    segments.push(bytes.subarray(start, start + length));
    start += length;
  }
  if (start < bytes.length) segments.push(bytes.subarray(start));
  return segments;
}

function setAt(bytes: Buffer, index: number, next: (octet: number) => number): Buffer {
  if (index >= bytes.length) return bytes;
  const copy = Buffer.from(bytes);
  copy[index] = next(copy[index] ?? 0);
  return copy;
}
