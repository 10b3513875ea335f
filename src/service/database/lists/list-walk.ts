/** The entry after which a list continues. */
export interface ListPosition {
  /** The position of the transaction that stored the entry: src/service/database/README.md, "Cursors". */
  readonly position: string;
  /** Orders the entries of one transaction. */
  readonly id: string;
}

/** Facts about a list that a response contains. */
export interface ListFacts {
  readonly entries: number;
  /** The position of the last entry; null without entries, and for a page. */
  readonly last: ListPosition | null;
  /** How many entries the whole list has. */
  readonly total: number;
  /** Whether the list may have more than `total`. */
  readonly isAtLeast: boolean;
}

/** How a client of the API reads a list: by pages or by cursors. */
export interface ListWalk {
  /** The position of the cursor; null for pages. */
  readonly after: ListPosition | null;
  /** Called after the entries were read. */
  readonly found: (facts: ListFacts) => void;
}

/** A position before every entry. */
export const LIST_START: ListPosition = { position: '-1', id: '0' };

/** The part of a list that a statement reads. */
export interface ListRange {
  readonly limit: number;
  /** How many entries precede the page. */
  readonly offset: number;
  /** Omitted if the caller needs no facts about the list; the range is then a page. */
  readonly walk?: ListWalk;
}
