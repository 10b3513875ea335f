/**
 * Takes a piece over and says whether more is wanted. It resolves when the piece has been worked
 * off, which is what keeps a fast sender from filling memory.
 */
export type Sink = (piece: Buffer) => Promise<boolean>;

/** Where a decoder's output goes, and whom it tells that the data is broken. */
export interface DecoderOptions {
  readonly sink: Sink;
  /** Called at most once, with what is wrong; the decoder answers false from then on. */
  readonly fail: (problem: string) => void;
}

/**
 * Undoes one content coding, piece by piece. Calls do not overlap. false: go no further, because
 * the sink has enough or the data is broken.
 */
export interface Decoder {
  write(piece: Buffer): Promise<boolean>;
  end(): Promise<boolean>;
  destroy(): void;
}
