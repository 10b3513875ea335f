import type { PartContext } from '../part.ts';

export interface Durations {
  /** Until the code is compiled and the rate is steady. */
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly peerSeconds: number;
}

export function durationsOf({ short }: Pick<PartContext, 'short'>): Durations {
  return short
    ? { warmUpMs: 1_500, measureMs: 1_500, peerSeconds: 1 }
    : { warmUpMs: 12_000, measureMs: 8_000, peerSeconds: 6 };
}
