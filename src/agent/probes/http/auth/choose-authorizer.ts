import type { ApiRequest } from '../../../../model/check/request/http.ts';
import type { Authorizer } from './authorizer.ts';
import { AwsSigV4Auth } from './aws-sigv4-auth.ts';
import { DigestAuth } from './digest-auth.ts';
import { type AuthParts, OAuth2Auth } from './oauth2-auth.ts';

/** null if the request has no `auth`, or has a header that replaces it. */
export function chooseAuthorizer(request: ApiRequest, parts: AuthParts): Authorizer | null {
  const { auth, headers } = request;
  if (auth === null || headers.some(({ key }) => key.toLowerCase() === 'authorization')) {
    return null;
  }
  // The schema requires the fields of the type.
  switch (auth.type) {
    case 'DIGEST':
      return new DigestAuth({ username: auth.username ?? '', password: auth.password ?? '' });
    case 'AWS_SIGV4':
      return new AwsSigV4Auth({
        accessKeyId: auth.accessKeyId ?? '',
        secretAccessKey: auth.secretAccessKey ?? '',
        sessionToken: auth.sessionToken ?? '',
        region: auth.region ?? '',
        service: auth.service ?? '',
      });
    case 'OAUTH2_CLIENT_CREDENTIALS': {
      const { tokenUrl = '', clientId = '', clientSecret = '' } = auth;
      const { scope = '', audience = '', clientAuthentication = 'HEADER' } = auth;
      const { skipSSL, ipFamily } = request;
      const client = { tokenUrl, clientId, clientSecret, scope, audience, clientAuthentication };
      return new OAuth2Auth({ ...client, skipSSL, ipFamily }, parts);
    }
  }
}
