import { stableNumber } from '../../../model/ids.ts';

/** Leaves room for a number at the end: an id has at most 100 characters. */
const MAX_SLUG_CHARS = 90;

/** Derives ids from names. The same names in the same order give the same ids. */
export class UniqueIds {
  readonly #freeOf: (slug: string) => string;
  readonly #taken = new Set<string>();
  /** The number for the next id of each slug: thousands of names may be equal. */
  readonly #next = new Map<string, number>();

  /** @param freeOf replaces a slug that cannot be an id here */
  constructor(freeOf: (slug: string) => string = (slug) => slug) {
    this.#freeOf = freeOf;
  }

  /** Reserves a fixed id, which is then not derived from any name. */
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
  // A name in another script gives a number, but the same one each time.
  return slug === '' ? `check-${stableNumber(name, 1_000_000)}` : slug;
}
