import type { Automaton } from '../automaton/automaton.ts';

/**
 * The part of a text that is scanned: the first `length` bytes. Positions are those in `bytes`;
 * they shift when the beginning is dropped.
 */
export interface Window {
  bytes: Uint8Array;
  length: number;
  /** Whether the decoded text continued behind the end: see alternate-decoding.ts. */
  isCut: boolean;
}

/**
 * The number of bytes behind a position that are present when it is scanned, except at the end of
 * the text. No escape and no alternate decoding of base64 is longer (see alternate-decoding.ts).
 */
export const LOOK_AHEAD_BYTES = 1024;

/** Maximum length of an escape, including nested escapes. */
export const MAX_ESCAPE_BYTES = 120;

/** Shared by all searches of one text. */
export interface Task {
  /** The automaton of the secrets. */
  automaton: Automaton;
  /** Work since the last yield to the event loop, in units of about three nanoseconds. */
  work: number;
}

/** Receives the positions of a match in a window. */
export type OnMatch = (from: number, to: number) => void;

/** Finds secrets in the bytes that are written into its window: see scanner.ts. */
export interface Scanner {
  readonly length: number;
  start(): void;
  /** Makes space for so many bytes behind `length`; the caller writes them there. */
  reserve(bytes: number): Uint8Array;
  /** The window now contains this many bytes. */
  filledTo(length: number): void;
  /**
   * Scans a slice of the window.
   *
   * @returns whether nothing more can be scanned before more bytes come
   */
  run(isWhole: boolean): boolean;
  /** Scans the rest; no more bytes follow. */
  end(isCut: boolean): void;
  /**
   * The first position that was not scanned; -1 while scanned bytes may still become a part of a
   * match.
   */
  quietFrom(): number;
  /** Later matches begin at this position or behind it. */
  undecided(): number;
  /**
   * Drops decided bytes from time to time.
   *
   * @returns how many bytes; positions shift by this number
   */
  dropDecided(): number;
}
