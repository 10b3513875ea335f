/** Processes a piece; resolves to whether more is wanted. Waiting for it is the back-pressure. */
export type Sink = (piece: Buffer) => Promise<boolean>;

export interface DecoderOptions {
  readonly sink: Sink;
  /** Called at most once, with what is wrong; the decoder returns false from then on. */
  readonly fail: (problem: string) => void;
}

/** Decodes one content coding. Calls must not overlap. false: enough, or the data is broken. */
export interface Decoder {
  write(piece: Buffer): Promise<boolean>;
  end(): Promise<boolean>;
  destroy(): void;
}
