import { editDistance } from './edit-distance.ts';

const LONGEST_NAME = 60;
const SHORTEST_STEM = 3;
const SHORTEST_ENDING = 4;

/**
 * The known name that was most likely meant; null if none is similar. Ignores case, and allows one
 * edit for every three letters: FETCH is not PATCH, nor ANY A.
 */
export function nearestName(given: string, known: readonly string[]): string | null {
  if (given.length > LONGEST_NAME) return null;
  const folded = given.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.floor(given.length / 3) + 1;
  for (const name of known) {
    const distance = editsBetween(folded, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best ?? known.find((name) => isPartOf(name.toLowerCase(), folded)) ?? null;
}

/** Two swapped letters count as one edit. */
function editsBetween(one: string, other: string): number {
  const first = [...one].findIndex((letter, index) => letter !== other[index]);
  if (first >= 0 && first + 1 < one.length) {
    const swapped = `${one.slice(0, first)}${one[first + 1]}${one[first]}${one.slice(first + 2)}`;
    if (swapped === other) return 1;
  }
  return editDistance(one, other);
}

/** `STATUS` for STATUS_CODE, `certFile` for cert, `type` for checkType: too many edits otherwise. */
function isPartOf(name: string, given: string): boolean {
  if (Math.min(name.length, given.length) < SHORTEST_STEM) return false;
  if (name.startsWith(given) || given.startsWith(name)) return true;
  return given.length >= SHORTEST_ENDING && name.endsWith(given);
}
