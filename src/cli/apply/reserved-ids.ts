import { freeCheckId, isReservedCheckId } from '../../model/ids.ts';

/** Which of the ids a service refuses for new checks and heartbeats, and what to do; null if it accepts all. */
export function reservedIdsText(ids: readonly string[]): string | null {
  const [first, ...others] = ids.filter(isReservedCheckId);
  if (first === undefined) return null;
  const shown = [first, ...others].join(', ');
  return `a service refuses new checks and heartbeats with the id ${shown}, which is a path of its API: choose another, for example ${freeCheckId(first)}`;
}

/** Why no check or heartbeat can be created with the id, as text that follows the id; null if it can. */
export function creationProblem(id: string): string | null {
  const text = reservedIdsText([id]);
  return text === null ? null : `cannot be created: ${text}`;
}
