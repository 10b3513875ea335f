import { stableNumber } from '../../../model/ids.ts';

/** Leaves room for a number behind it: an id has at most 100 characters. */
const MAX_SLUG_CHARS = 90;

/** Ids made of names: the same names in the same order give the same ids. */
export class UniqueIds {
  readonly #freeOf: (slug: string) => string;
  readonly #taken = new Set<string>();
  /** The number behind the next id of each slug: thousands of names may be alike. */
  readonly #next = new Map<string, number>();

  /** @param freeOf replaces a slug that cannot be an id here */
  constructor(freeOf: (slug: string) => string = (slug) => slug) {
    this.#freeOf = freeOf;
  }

  /** An id that is not made of a name, and that no name gets. */
  reserve(id: string): string {
    this.#taken.add(id);
    return id;
  }

  take(name: string): string {
    const slug = this.#freeOf(slugOf(name));
    let n = this.#next.get(slug) ?? 1;
    let id = n === 1 ? slug : `${slug}-${n}`;
    while (this.#taken.has(id)) {
      n += 1;
      id = `${slug}-${n}`;
    }
    this.#next.set(slug, n + 1);
    this.#taken.add(id);
    return id;
  }
}

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_CHARS)
    .replace(/^-+|-+$/g, '');
  // A name in another script still gives the same id each time.
  return slug === '' ? `check-${stableNumber(name, 1_000_000)}` : slug;
}
