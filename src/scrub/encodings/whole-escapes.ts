import { BACKSLASH, IS_MARKER } from '../search/bytes-of-text.ts';
import type { Window } from '../search/window.ts';
import type { Escapes } from './escapes.ts';

/** A single escape is no longer: `&thetasym;`, `\ud83d\ude00`. */
const MAX_ESCAPE_BYTES = 12;
/** Of a run of backslashes, so many are looked at to see which of them escape. */
const MAX_BACKSLASHES = 128;
/** What is extended may be in an escape again; no text makes this long. */
const MAX_ROUNDS = 4;

/** How far before something a mask may begin. */
export const MAX_EXTENSION_BYTES = (MAX_ESCAPE_BYTES + 3) * MAX_ROUNDS;

/**
 * Where a mask has to begin so that it cuts neither an escape in two nor a character: half of one
 * would no longer be valid JSON, or no longer UTF-8.
 */
export function wholeFrom(window: Window, escapes: Escapes, from: number): number {
  const { bytes } = window;
  let whole = from;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let extended = beginOfCharacter(bytes, whole);
    const lowest = Math.max(0, whole - MAX_ESCAPE_BYTES);
    for (let at = whole - 1; at >= lowest; at -= 1) {
      if (IS_MARKER[bytes[at] ?? 0] === 1 && endOfEscape(window, escapes, at) > whole) {
        extended = Math.min(extended, at);
      }
    }
    if (extended === whole) break;
    whole = extended;
  }
  return whole;
}

/** Where it has to end. */
export function wholeTo(window: Window, escapes: Escapes, from: number, to: number): number {
  const { bytes } = window;
  let whole = endOfCharacter(window, to);
  for (let at = Math.max(from, to - MAX_ESCAPE_BYTES); at < to; at += 1) {
    if (IS_MARKER[bytes[at] ?? 0] === 1) whole = Math.max(whole, endOfEscape(window, escapes, at));
  }
  return whole;
}

/** End of the escape at a position of a text; -1 if there is none. */
function endOfEscape({ bytes }: Window, escapes: Escapes, at: number): number {
  if (bytes[at] !== BACKSLASH) return escapes.endOfPlain(at);
  let before = 0;
  while (before < MAX_BACKSLASHES && bytes[at - 1 - before] === BACKSLASH) before += 1;
  return before % 2 === 0 ? escapes.endOfPlain(at) : -1;
}

function beginOfCharacter(bytes: Uint8Array, from: number): number {
  let at = from;
  while (from - at < 3 && isContinuation(bytes[at]) && (bytes[at - 1] ?? 0) >= 0x80) at -= 1;
  return at;
}

function endOfCharacter({ bytes, length }: Window, to: number): number {
  let at = to;
  if ((bytes[to - 1] ?? 0) < 0x80) return to;
  while (to + 3 > at && at < length && isContinuation(bytes[at])) at += 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
