import type { ChangedStatusPage } from '../../model/status-page/status-page.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import type { CardToStore } from './cards.sql.ts';
import type { StoredCard } from './sql.ts';

export type CardInput = ChangedStatusPage['cards'][number];

/**
 * Plans the cards that replace the stored ones. A given card is matched with a stored card by id or, without an id,
 * by name, and keeps its id, so that links to it stay valid. Only changed cards get a new updatedAt.
 */
export function planCards(
  stored: readonly StoredCard[],
  given: readonly CardInput[],
  { ids, nowMs }: { readonly ids: () => string; readonly nowMs: number },
): { readonly cards: readonly CardToStore[]; readonly problems: readonly RequestProblem[] } {
  const problems = idProblems(stored, given);
  const claimed = new Set(given.map(({ id }) => id));
  const cards = given.map(({ id, name, services }): CardToStore => {
    const known = stored.find((card) =>
      id === undefined ? card.name === name && !claimed.has(card.id) : card.id === id,
    );
    if (known === undefined) {
      return { id: ids(), name, services, createdAtMs: nowMs, updatedAtMs: null };
    }
    claimed.add(known.id);
    const isSame = known.name === name && sameServices(known, services);
    const updatedAtMs = isSame ? (known.updatedAt?.getTime() ?? null) : nowMs;
    return { id: known.id, name, services, createdAtMs: known.createdAt.getTime(), updatedAtMs };
  });
  return { cards, problems };
}

function sameServices(card: StoredCard, services: readonly string[]): boolean {
  return (
    card.services.length === services.length &&
    card.services.every(({ id }, index) => id === services[index])
  );
}

function idProblems(
  stored: readonly StoredCard[],
  given: readonly CardInput[],
): readonly RequestProblem[] {
  const known = new Set(stored.map(({ id }) => id));
  const seen = new Set<string>();
  return given.flatMap(({ id }, index) => {
    if (id === undefined) return [];
    const path = ['cards', index, 'id'];
    if (!known.has(id)) {
      return [bodyProblem(path, 'must be the id of a card of this page, or be omitted')];
    }
    if (seen.has(id)) return [bodyProblem(path, 'must not be that of a card before it')];
    seen.add(id);
    return [];
  });
}
