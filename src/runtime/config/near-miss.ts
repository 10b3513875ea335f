import { editDistance } from '../text/edit-distance.ts';

const MAX_EDITS = 2;

/** Names of other programs that are similar to one of ours. Upper case. */
const NAMES_OF_OTHERS: ReadonlySet<string> = new Set([
  'TARGET_DEV',
  'TARGET_DNS',
  'TARGET_ENV',
  'TARGET_KEY',
  'GLOG_LEVEL',
]);

/** A set variable, and the one of ours that was probably meant. */
export interface NearMiss {
  readonly name: string;
  readonly meant: string;
}

/**
 * The first variable that is not ours but at most two edits (letters added, left out or changed;
 * any case) from one that is: most likely a typo that would go unnoticed.
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
