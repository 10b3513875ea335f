import { LruCache } from '../../../runtime/lru-cache.ts';
import { type Encoded, encoded } from '../../http/handbook/responses.ts';
import type { PageState } from '../state/page-state.ts';
import type { StoredPage } from '../status-pages.ts';
import type { PageAddresses } from './page-addresses.ts';

/** For documents in all their encodings. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The approximate size of the data that is kept with a document. */
const ENTRY_BYTES = 1_024;

/** The memory that a document takes, in bytes. */
export function bytesOf({ plain, packed }: Encoded): number {
  return ENTRY_BYTES + plain.length + packed.br.length + packed.gzip.length;
}

/** The source of a document. */
export interface DocumentSource {
  readonly page: StoredPage;
  readonly state: PageState;
  readonly isStale: boolean;
  /** The address of the page, for links. */
  readonly base: string;
}

/** It is weighed by its bytes alone, so it must not refer to a page or a state, which it may outlive. */
interface MadeDocument {
  readonly pageVersion: number;
  readonly stateVersion: number;
  readonly isStale: boolean;
  readonly base: string;
  readonly encoded: Encoded;
}

/** Caches documents that are derived from the states of pages. */
export class PageDocuments {
  readonly #addresses: PageAddresses;
  readonly #made = new LruCache<MadeDocument>(MAX_BYTES);
  readonly #versions = new Versions();

  constructor(addresses: PageAddresses) {
    this.#addresses = addresses;
  }

  /** @param make called where the document is not the one of this source */
  get(
    { page, state, isStale, base }: DocumentSource,
    name: string,
    make: (state: PageState) => string | Buffer,
  ): Encoded {
    const key = this.#addresses.keyOf(page.id, base, name);
    const known = this.#made.get(key);
    const pageVersion = this.#versions.of(page);
    const stateVersion = this.#versions.of(state);
    const isCurrent =
      known?.base === base &&
      known.pageVersion === pageVersion &&
      known.stateVersion === stateVersion &&
      known.isStale === isStale;
    if (isCurrent) return known.encoded;
    const made = encoded(make(state));
    const document = { pageVersion, stateVersion, isStale, base, encoded: made };
    this.#made.set(key, document, bytesOf(made));
    return made;
  }
}

/** Numbers objects, in order to recognise later what was derived from an object without referring to it. */
class Versions {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(object: object): number {
    const known = this.#numbers.get(object);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#numbers.set(object, this.#last);
    return this.#last;
  }
}
