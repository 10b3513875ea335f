import { editDistance } from '../../runtime/edit-distance.ts';

const LONGEST_NAME = 60;
const SHORTEST_STEM = 3;

/** The known name that was most likely meant, or null where none is near. Letter case is free. */
export function nearestName(given: string, known: readonly string[]): string | null {
  if (given.length > LONGEST_NAME) return null;
  const folded = given.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.min(given.length - 1, Math.max(2, Math.floor(given.length * 0.4))) + 1;
  for (const name of known) {
    const distance = editDistance(folded, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best ?? known.find((name) => isPartOf(name.toLowerCase(), folded)) ?? null;
}

/** `STATUS` for STATUS_CODE, `certFile` for cert: too many edits, but one starts with the other. */
function isPartOf(name: string, given: string): boolean {
  if (Math.min(name.length, given.length) < SHORTEST_STEM) return false;
  return name.startsWith(given) || given.startsWith(name);
}
