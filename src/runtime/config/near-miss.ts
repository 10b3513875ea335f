import { editDistance } from '../text/edit-distance.ts';

const MAX_EDITS = 2;

/** Variables of other programs whose names are similar to a variable of Vedette. Upper case. */
const NAMES_OF_OTHERS: ReadonlySet<string> = new Set([
  'TARGET_DEV',
  'TARGET_DNS',
  'TARGET_ENV',
  'TARGET_KEY',
  'GLOG_LEVEL',
]);

/** A set variable, and the variable of Vedette that was probably meant. */
export interface NearMiss {
  readonly name: string;
  readonly meant: string;
}

/**
 * The first variable that Vedette does not have, with at most two edits (letters added, left out or changed;
 * any case) from one that it has: most likely a typo that would go unnoticed.
 */
export function findNearMiss(
  names: readonly string[],
  ours: readonly string[],
  alsoKnown: readonly string[],
): NearMiss | null {
  for (const name of names) {
    const upper = name.toUpperCase();
    if (ours.includes(name) || alsoKnown.includes(name) || NAMES_OF_OTHERS.has(upper)) continue;
    const meant = ours.find(
      (own) =>
        Math.abs(upper.length - own.length) <= MAX_EDITS && editDistance(upper, own) <= MAX_EDITS,
    );
    if (meant !== undefined) return { name, meant };
  }
  return null;
}
