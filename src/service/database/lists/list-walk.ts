/** After which entry a list continues. */
export interface ListPosition {
  /** The position of the transaction that stored the entry: src/service/database/README.md, "Cursors". */
  readonly position: string;
  /** Orders the entries of one transaction. */
  readonly id: string;
}

/** What a response says about its list. */
export interface ListFacts {
  readonly entries: number;
  /** The last entry; null for none, and in a page. */
  readonly last: ListPosition | null;
  /** How many entries the whole list has. */
  readonly total: number;
  /** Whether the list may have more than `total`. */
  readonly isAtLeast: boolean;
}

/** A list as a caller of the API goes through it. */
export interface ListWalk {
  /** null: by pages. */
  readonly after: ListPosition | null;
  /** Called once the entries are read. */
  readonly found: (facts: ListFacts) => void;
}

/** Every entry comes after it. */
export const LIST_START: ListPosition = { position: '-1', id: '0' };

/** The part of a list that a statement reads. */
export interface ListRange {
  readonly limit: number;
  /** Entries before a page. */
  readonly offset: number;
  /** Omitted if nobody needs to know how the list continues: then it is a page. */
  readonly walk?: ListWalk;
}
