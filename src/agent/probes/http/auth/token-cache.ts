import { createHash } from 'node:crypto';
import type { Failure } from '../../../../model/result/error-codes.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { LruCache } from '../../../../runtime/lru-cache.ts';

export interface AccessToken {
  readonly value: string;
  /** Monotonic instant from which it is not used any more. */
  readonly untilMs: number;
}

export type TokenReply =
  | { readonly ok: true; readonly token: AccessToken }
  /** `isCancelled`: its run was ended, so it says nothing about the token endpoint. */
  | { readonly ok: false; readonly failure: Failure; readonly isCancelled: boolean };

const MAX_TOKENS = 1000;

/** The access tokens of all checks with the same client and settings. Concurrent requests share one. */
export class TokenCache {
  readonly #tokens = new LruCache<AccessToken>(MAX_TOKENS);
  readonly #pending = new Map<string, Promise<TokenReply>>();

  /** `isNew`: it was requested by this call, or while it waited. */
  async get(
    key: string,
    clock: Clock,
    request: () => Promise<TokenReply>,
  ): Promise<{ readonly reply: TokenReply; readonly isNew: boolean }> {
    for (;;) {
      const known = this.#tokens.get(key);
      if (known !== undefined && known.untilMs > clock.monotonicMs()) {
        return { reply: { ok: true, token: known }, isNew: false };
      }
      const pending = this.#pending.get(key);
      if (pending === undefined) return { reply: await this.#request(key, request), isNew: true };
      const reply = await pending;
      if (reply.ok || !reply.isCancelled) return { reply, isNew: true };
    }
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
    this.#pending.set(key, requested);
    try {
      return await requested;
    } finally {
      this.#pending.delete(key);
    }
  }
}

/** The key of a client and its settings, which shows none of them. */
export function tokenKeyOf(settings: object): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}
