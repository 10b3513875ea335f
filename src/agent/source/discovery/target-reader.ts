/** A document that was found, and its text if it is not known yet. */
export interface FoundDocument {
  /** For messages: a path or a URL. */
  readonly name: string;
  readonly language: 'JSON' | 'YAML';
  /** Changes when the document does. */
  readonly stamp: string;
  /** null if the stamp has not changed. */
  readonly text: string | null;
}

export interface KnownDocument {
  readonly stamp: string;
  readonly chars: number;
}

/** Finds and reads the documents of a rule. */
export interface TargetReader {
  readonly periodMs: number;
  /** The name of the reader in messages. */
  readonly name: string;
  /**
   * @param known by name
   * @throws Error with a message for the log
   */
  find(
    known: ReadonlyMap<string, KnownDocument>,
    signal: AbortSignal,
  ): Promise<readonly FoundDocument[]>;
}

/** The time limit of one scan of files, and of one response of a server. */
export const READ_LIMIT_MS = 10_000;
/** The size limit of a file, and of an HTTP response. */
export const MAX_BYTES = 8 * 1024 * 1024;
