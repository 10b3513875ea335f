import type { ServiceFaultKind } from './service-faults.ts';

/** Between tries where nothing better is known; doubled from fault to fault, and jittered. */
export interface BackoffRange {
  readonly minMs: number;
  readonly maxMs: number;
}
export const DEFAULT_BACKOFF: BackoffRange = { minMs: 1_000, maxMs: 60_000 };

/**
 * What is done about a fault, whatever was being sent:
 * - `back-off`: the same again, later and later, not before a Retry-After
 * - `wait`: the same again after so long; nothing that the agent does heals it
 * - `wait-for-key`: the same, and at once when the key has changed
 * - `divide`: what was sent is found out to be bad, or not, by parts
 * - `stop`: nothing more
 */
export type Reaction =
  | { readonly act: 'back-off'; readonly healsByItself: true }
  | {
      readonly act: 'wait' | 'wait-for-key';
      readonly waitMs: number;
      readonly healsByItself: false;
    }
  | { readonly act: 'divide'; readonly healsByItself: true }
  | { readonly act: 'stop'; readonly healsByItself: false };

export const REACTIONS: Readonly<Record<ServiceFaultKind, Reaction>> = {
  offline: { act: 'back-off', healsByItself: true },
  busy: { act: 'back-off', healsByItself: true },
  failed: { act: 'back-off', healsByItself: true },
  refused: { act: 'divide', healsByItself: true },
  unauthorized: { act: 'wait-for-key', waitMs: 60_000, healsByItself: false },
  mismatch: { act: 'wait', waitMs: 300_000, healsByItself: false },
  stopped: { act: 'stop', healsByItself: false },
};
