import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface ProviderUserFields {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
  /** The claims of the ID token; by default only the subject. */
  readonly idToken?: { readonly email?: string; readonly email_verified?: boolean };
}

export interface TestProvider {
  readonly issuer: string;
  /** The people who can sign in, by their login. */
  readonly people: Map<string, ProviderUserFields>;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'vedette', clientSecret: 'a secret of the tests' };

/** A real OpenID Connect provider on the loopback, which demands PKCE. */
export async function startTestProvider(redirectUri: () => string): Promise<TestProvider> {
  const people = new Map<string, ProviderUserFields>();
  const server: Server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider: Provider | null = null;
  const handle = (...args: Parameters<ReturnType<Provider['callback']>>): unknown => {
    // Made with the first request: only then is the port of the service known.
    provider ??= new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [redirectUri()],
        },
      ],
      pkce: { required: () => true },
      scopes: ['openid', 'email', 'profile', 'groups'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      cookies: { keys: ['a key of the tests'] },
      findAccount: (_context, id) => ({
        accountId: id,
        async claims(use) {
          const { idToken = {}, ...userInfo } = people.get(id) ?? {};
          return { sub: id, ...(use === 'id_token' ? idToken : userInfo) };
        },
      }),
      // An ID token may have claims of its own.
      conformIdTokenClaims: false,
      // Nobody is asked for consent.
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
    });
    return provider.callback()(...args);
  };
  return {
    issuer,
    people,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
