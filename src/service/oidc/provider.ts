import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { type Dispatcher, fetch, type RequestInit } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { NO_PROXIES, type Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { ServiceError } from '../errors.ts';
import { outgoingDispatcher } from '../outgoing/outgoing-dispatcher.ts';
import type { OidcConfig } from './oidc-config.ts';

/** The timeout of each request to the provider. */
const TIMEOUT_SECONDS = 5;
/** How long the metadata of the provider is cached; it changes rarely. */
const METADATA_TTL_MS = 3_600_000;

/** The data that the browser keeps while the user signs in at the provider. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly verifier: string;
}

/** The user according to the provider. */
export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
  /** Null if the provider does not send it. */
  readonly email: string | null;
  /** Null if the provider does not say. */
  readonly isEmailVerified: boolean | null;
  readonly groups: readonly string[];
}

/** The OpenID Connect provider: the authorization code flow with PKCE, state and nonce. */
export interface Provider {
  /**
   * @param redirectUri the callback, as it is registered at the provider
   * @throws ServiceError 503 where the provider does not answer
   */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly pending: PendingSignIn }>;
  /**
   * @param callback the URL at which the browser came back, with its query
   * @throws ServiceError 400 where the answer is not valid, 503 where the provider does not answer
   */
  finish(callback: URL, pending: PendingSignIn): Promise<ProviderUser>;
}

export function createProvider(
  config: OidcConfig,
  {
    clock,
    log,
    proxies = NO_PROXIES,
  }: {
    readonly clock: Clock;
    readonly log: Logger;
    /** Default: none. */
    readonly proxies?: Proxies | undefined;
  },
): Provider {
  const dispatcher = outgoingDispatcher({
    proxies,
    reachable: null,
    connectTimeoutMs: TIMEOUT_SECONDS * 1000,
  });
  let known: { readonly found: Promise<Configuration>; readonly untilMs: number } | null = null;

  /** Caches the metadata. Concurrent callers share one request; a failure is not cached. */
  const configuration = (): Promise<Configuration> => {
    if (known !== null && known.untilMs > clock.monotonicMs()) return known.found;
    const found = discover(config, dispatcher);
    const entry = { found, untilMs: clock.monotonicMs() + METADATA_TTL_MS };
    known = entry;
    found.catch(() => {
      if (known === entry) known = null;
    });
    return found;
  };
  const away = (cause: unknown): ServiceError => {
    log.warn({ err: cause }, 'the OpenID Connect provider cannot be used');
    return new ServiceError(
      503,
      'The identity provider does not answer: try again later, or sign in with a password',
      { cause },
    );
  };

  return {
    async begin(redirectUri) {
      const pending = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      const found = await configuration().catch((error: unknown) => {
        throw away(error);
      });
      const url = buildAuthorizationUrl(found, {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { url, pending };
    },

    async finish(callback, { state, nonce, verifier }) {
      const found = await configuration().catch((error: unknown) => {
        throw away(error);
      });
      try {
        const tokens = await authorizationCodeGrant(found, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('the provider sent no ID token');
        const isWhole = claims.email !== undefined && claims[config.groupsClaim] !== undefined;
        const hasMore = !isWhole && found.serverMetadata().userinfo_endpoint !== undefined;
        const more: Readonly<Record<string, unknown>> = hasMore
          ? await fetchUserInfo(found, tokens.access_token, claims.sub)
          : {};
        // Each document has its own email and email_verified; the emails of the two may differ.
        const { email, email_verified } = claims.email === undefined ? more : claims;
        const all = { ...more, ...claims, email, email_verified };
        return userIn(all, config.groupsClaim);
      } catch (error) {
        log.warn({ err: error }, 'a sign-in at the OpenID Connect provider failed');
        throw new ServiceError(400, 'The sign-in at the identity provider failed: try again', {
          cause: error,
        });
      }
    },
  };
}

function discover(
  { issuer, clientId, clientSecret }: OidcConfig,
  dispatcher: Dispatcher,
): Promise<Configuration> {
  const url = new URL(issuer);
  const execute = [enableNonRepudiationChecks];
  // oidc-config.ts allows http only for loopback.
  if (url.protocol === 'http:') execute.push(allowInsecureRequests);
  return discovery(url, clientId, clientSecret, clientAuth(clientSecret), {
    execute,
    timeout: TIMEOUT_SECONDS,
    [customFetch]: (url, options) => fetchBy(dispatcher, url, options),
  });
}

/** A fetch with the dispatcher of our undici: Node's own `fetch` does not accept it. */
async function fetchBy(
  dispatcher: Dispatcher,
  url: string,
  options: CustomFetchOptions,
): Promise<Response> {
  const init = { ...options, dispatcher } as RequestInit;
  return (await fetch(url, init)) as unknown as Response;
}

/** OpenID Connect Discovery 1.0, 3: without a list of methods, client_secret_basic. */
function clientAuth(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const send = methods.includes('client_secret_basic') ? basic : post;
    send(server, ...rest);
  };
}

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

function userIn(claims: Claims, groupsClaim: string): ProviderUser {
  const { iss: issuer, sub: subject, email, email_verified: verified } = claims;
  const groups = [claims[groupsClaim] ?? []].flat();
  return {
    issuer,
    subject,
    email: typeof email === 'string' ? email : null,
    // Some providers send the boolean as text.
    isEmailVerified: verified === undefined ? null : verified === true || verified === 'true',
    groups: groups.filter((each) => typeof each === 'string'),
  };
}
