/** Finds secrets in the bytes that come into its window: see scanner.ts. */
export interface Scanner {
  readonly length: number;
  start(): void;
  /** Where so many bytes more may be written, behind `length`. */
  reserve(bytes: number): Uint8Array;
  /** So far the window is filled. */
  filledTo(length: number): void;
  /**
   * Looks at some of what came.
   *
   * @returns whether all was looked at that can be before more comes
   */
  run(isWhole: boolean): boolean;
  /** Looks at all, and nothing more comes. */
  end(isCut: boolean): void;
  /**
   * Where the first byte stands that was not looked at; -1 while one that was looked at may belong
   * to something that is found later.
   */
  quietFrom(): number;
  /** Nothing will be found any more that begins before it. */
  undecided(): number;
  /**
   * Forgets what is decided, at times.
   *
   * @returns how many bytes: positions count from there now
   */
  dropDecided(): number;
}
