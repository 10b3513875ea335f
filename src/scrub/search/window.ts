import type { Automaton } from '../automaton/automaton.ts';

/**
 * The part of a text that is looked at: `length` of the bytes. Positions are those in `bytes`, and
 * go down when the beginning is dropped.
 */
export interface Window {
  bytes: Uint8Array;
  length: number;
  /** Whether what was decoded went on where it ends: see other-reading.ts. */
  isCut: boolean;
}

/**
 * How many bytes behind a position are there when it is looked at, except at the end of a text. No
 * escape is longer, and no other reading of base64 goes on for longer (see base64-search.ts).
 */
export const LOOK_AHEAD_BYTES = 1024;

/** An escape that is longer, by whatever was escaped again in it, is none. */
export const MAX_ESCAPE_BYTES = 120;

/** What all searches of one text share. */
export interface Task {
  /** Of the secrets that are looked for. */
  automaton: Automaton;
  /** Work since the last yield to the event loop, in units of about three nanoseconds. */
  work: number;
}

/** Where something is that is to be masked, in a window. */
export type Report = (from: number, to: number) => void;
