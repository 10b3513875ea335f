import type { ProbeContext } from '../../probe.ts';
import type { HopRequest, ResponseHead } from '../transport.ts';
import type { Authorized, Authorizer } from './authorizer.ts';
import { type AccessToken, type TokenCache, tokenKeyOf } from './token-cache.ts';
import {
  requestToken,
  type TokenRoute,
  type TokenSettings,
  waitForToken,
} from './token-request.ts';

export interface AuthParts extends TokenRoute {
  readonly tokens: TokenCache;
}

/**
 * Sends an access token of OAuth2 (RFC 6750), shared by all checks with the same settings. If the
 * target refuses a cached one (401), requests a new one, once per attempt.
 */
export class OAuth2Auth implements Authorizer {
  readonly #settings: TokenSettings;
  readonly #parts: AuthParts;
  readonly #key: string;
  #kept: AccessToken | null = null;
  #isRenewed = false;

  constructor(settings: TokenSettings, parts: AuthParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#key = tokenKeyOf(settings);
  }

  async authorize(_request: HopRequest, context: ProbeContext): Promise<Authorized> {
    const { tokens } = this.#parts;
    const request = () => requestToken(this.#settings, this.#parts, context);
    const ends = waitForToken(this.#settings);
    const { reply, isNew } = await tokens.get(this.#key, context, ends, request);
    if (!reply.ok) return reply;
    const { token } = reply;
    this.#kept = isNew ? null : token;
    if (!isNew) context.log.info('Using a cached access token');
    await context.learnSecrets?.([token.value]);
    return { ok: true, headers: [['authorization', `Bearer ${token.value}`]] };
  }

  asksAgain({ status }: ResponseHead): boolean {
    return status === 401 && this.#kept !== null && !this.#isRenewed;
  }

  accept(): void {
    this.#isRenewed = true;
    if (this.#kept !== null) this.#parts.tokens.drop(this.#key, this.#kept);
  }
}
