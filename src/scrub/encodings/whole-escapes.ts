import { BACKSLASH, IS_MARKER } from '../search/character-tables.ts';
import type { Window } from '../search/window.ts';
import type { Escapes } from './escapes.ts';

/** The longest escapes that are not nested: `&thetasym;`, `\ud83d\ude00`. */
const MAX_ESCAPE_BYTES = 12;
/** Backslashes of a run that are examined to see which of them begin an escape. */
const MAX_BACKSLASHES = 128;
/** An extended mask may begin in another escape. */
const MAX_ROUNDS = 4;

/** How far before a match its mask may begin. */
export const MAX_EXTENSION_BYTES = (MAX_ESCAPE_BYTES + 3) * MAX_ROUNDS;

/**
 * Where a mask begins so that it does not cut an escape or a character: the rest would be invalid
 * JSON or UTF-8.
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

/** Where a mask ends so that it does not cut an escape or a character. */
export function wholeTo(window: Window, escapes: Escapes, from: number, to: number): number {
  const { bytes } = window;
  let whole = endOfCharacter(window, to);
  for (let at = Math.max(from, to - MAX_ESCAPE_BYTES); at < to; at += 1) {
    if (IS_MARKER[bytes[at] ?? 0] === 1) whole = Math.max(whole, endOfEscape(window, escapes, at));
  }
  return whole;
}

/** The end of the escape at a position; -1 if there is none. */
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
