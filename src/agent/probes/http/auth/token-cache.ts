import { createHash } from 'node:crypto';
import type { Failure } from '../../../../model/result/error-codes.ts';
import { LruCache } from '../../../../runtime/lru-cache.ts';
import { type Limits, limitedWait, type WaitOutcomes } from '../../../net/limited-wait.ts';

export interface AccessToken {
  readonly value: string;
  /** Monotonic instant until which the token is used. */
  readonly untilMs: number;
}

export type TokenReply =
  | { readonly ok: true; readonly token: AccessToken }
  /**
   * `isAnswered`: the endpoint answered. If not, the caller's deadline or signal may be the cause.
   */
  | { readonly ok: false; readonly failure: Failure; readonly isAnswered: boolean };

const MAX_TOKENS = 1000;
/** The access tokens of all checks, by client and settings. Concurrent requests share one. */
export class TokenCache {
  readonly #tokens = new LruCache<AccessToken>(MAX_TOKENS);
  readonly #pending = new Map<string, Promise<TokenReply>>();

  /**
   * Returns a token and whether it is new: requested by this call, or while this call waited. A
   * shared request has the deadline and the signal of the call that began it. The other calls wait
   * until their own deadlines, and request a token themselves if the shared request got no
   * response.
   *
   * @param ends the replies if the call's own deadline passes, or its signal aborts, while it waits
   * @param request must not reject
   */
  async get(
    key: string,
    limits: Limits,
    ends: WaitOutcomes<TokenReply>,
    request: () => Promise<TokenReply>,
  ): Promise<{ readonly reply: TokenReply; readonly isNew: boolean }> {
    const known = this.#tokens.get(key);
    if (known !== undefined && known.untilMs > limits.clock.monotonicMs()) {
      return { reply: { ok: true, token: known }, isNew: false };
    }
    const pending = this.#pending.get(key);
    if (pending === undefined) return { reply: await this.#request(key, request), isNew: true };
    const shared = await limitedWait<TokenReply | null>(limits, ends, (settle) => {
      void pending.then((reply) => settle(reply.ok || reply.isAnswered ? reply : null));
      return () => {};
    });
    return { reply: shared ?? (await this.#request(key, request)), isNew: true };
  }

  /** Forgets a token that its target refused, unless another one has replaced it. */
  drop(key: string, token: AccessToken): void {
    if (this.#tokens.get(key) === token) this.#tokens.delete(key);
  }

  async #request(key: string, request: () => Promise<TokenReply>): Promise<TokenReply> {
    const requested = request().then((reply) => {
      if (reply.ok) this.#tokens.set(key, reply.token);
      return reply;
    });
    if (this.#pending.has(key)) return requested;
    this.#pending.set(key, requested);
    try {
      return await requested;
    } finally {
      this.#pending.delete(key);
    }
  }
}

/** The key of a client and its settings. It is a hash, so it reveals none of them. */
export function tokenKeyOf(settings: object): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}
