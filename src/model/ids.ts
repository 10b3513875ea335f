import { hash } from 'node:crypto';
import { STORED_CHECK_TYPES } from './enums.ts';

/** The id of a check: a UUID, or a slug that a user chose. */
export const CHECK_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** Names in paths of the API in place of an id: `/v1/checks/url` lists the checks of a type. */
export const RESERVED_CHECK_IDS: readonly string[] = [
  ...STORED_CHECK_TYPES.map((type) => type.toLowerCase()),
  'heartbeats',
];
const RESERVED: ReadonlySet<string> = new Set(RESERVED_CHECK_IDS);

/** Matches each reserved id. Patterns of JSON Schema have no flag for upper and lower case. */
export const RESERVED_CHECK_IDS_PATTERN = `^(${RESERVED_CHECK_IDS.map(inAnyCase).join('|')})$`;

/** For descriptions of ids. */
export const RESERVED_CHECK_IDS_TEXT = `${RESERVED_CHECK_IDS.slice(0, -1).join(', ')} or ${RESERVED_CHECK_IDS.at(-1)}, in upper or lower case`;

/** Whether no check can be reached under this id, in upper or lower case, at `/v1/checks/{id}`. */
export function isReservedCheckId(id: string): boolean {
  return RESERVED.has(id.toLowerCase());
}

/** An id that a check can have: the given one, with a suffix if it is reserved. */
export function freeCheckId(id: string): string {
  return isReservedCheckId(id) ? `${id}-check` : id;
}

/** Why a check cannot have a reserved id, and what to do. Follows the name of the field. */
export function reservedCheckIdText(id: string): string {
  const path = `/v1/checks/${id.toLowerCase()}`;
  return `must not be ${JSON.stringify(id)}: ${path} is a path of the API with another meaning; choose another id, for example ${freeCheckId(id)}`;
}

/**
 * An id that every agent and service derives equally from the same parts: 128 bits of SHA-256 as a
 * UUID of version 8 (RFC 9562 5.8).
 */
export function stableId(...parts: readonly (string | number)[]): string {
  const hex = digest(parts);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [first, second] = [hex.slice(0, 8), hex.slice(8, 12)];
  return `${first}-${second}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A whole number in [0, bound), the same for the same text everywhere. `bound` ≤ 2^32. */
export function stableNumber(text: string, bound: number): number {
  return Number.parseInt(digest([text]).slice(0, 8), 16) % bound;
}

/**
 * Groups the attempts of one run (src/model/README.md, "When checks run"). `slotMs` is epoch
 * milliseconds.
 */
export function sequenceIdOf(checkId: string, location: string, slotMs: number): string {
  return stableId('sequence', checkId, location, slotMs);
}

/** `attempt` counts from 1. The same attempt of the same run has the same id everywhere. */
export function resultIdOf(sequenceId: string, attempt: number): string {
  return stableId('result', sequenceId, attempt);
}

/** An artifact that is sent again has the same id: its name is unique in its result. */
export function artifactIdOf(resultId: string, name: string): string {
  return stableId('artifact', resultId, name);
}

/** `[uU][rR][lL]` for `url`. */
function inAnyCase(name: string): string {
  return [...name].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('');
}

function digest(parts: readonly (string | number)[]): string {
  // JSON preserves the borders between parts: ("a", "bc") and ("ab", "c") differ.
  return hash('sha256', JSON.stringify(parts), 'hex');
}
