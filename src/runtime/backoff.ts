export interface BackoffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** False if no other client retries at the same time. Default: true. */
  readonly jitter?: boolean;
  /** From 0 to under 1. */
  readonly random?: () => number;
}

/** Exponential backoff, by default with jitter: clients that failed together retry apart. */
export class Backoff {
  readonly #options: BackoffOptions;
  #baseMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#baseMs = options.minMs;
  }

  /** @param atLeastMs the Retry-After of the peer, which may exceed `maxMs`; the jitter is added to it */
  next(atLeastMs = 0): number {
    const { maxMs, jitter = true, random = Math.random } = this.#options;
    const baseMs = Math.min(this.#baseMs, maxMs);
    this.#baseMs = Math.min(baseMs * 2, maxMs);
    if (!jitter) return Math.max(baseMs, atLeastMs);
    return equalJitter(baseMs, atLeastMs, random);
  }

  reset(): void {
    this.#baseMs = this.#options.minMs;
  }
}

/** Half of the delay, or `atLeastMs` where that is more, and a random part of the other half. */
export function equalJitter(delayMs: number, atLeastMs: number, random = Math.random): number {
  return Math.max(delayMs / 2, atLeastMs) + (random() * delayMs) / 2;
}

/** RFC 9110 10.2.3: seconds, or a date. */
export function retryAfterMs(header: string | null, wallMs: number, maxMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const delayMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - wallMs;
  if (Number.isNaN(delayMs)) return null;
  return Math.min(Math.max(0, delayMs), maxMs);
}
