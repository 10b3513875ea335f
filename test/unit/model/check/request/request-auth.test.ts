import { describe, expect, test } from 'vitest';
import { apiRequestSchema } from '../../../../../src/model/check/request/http.ts';
import { maskRequest } from '../../../../../src/model/credentials/credential-fields.ts';
import { targetChange, targetOf } from '../../../../../src/model/credentials/credential-target.ts';
import {
  maskProblems,
  withRetainedCredentials,
} from '../../../../../src/model/credentials/retained-credentials.ts';

const MASK = '********';
const OAUTH = {
  type: 'OAUTH2_CLIENT_CREDENTIALS',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'monitor',
  clientSecret: 's3cret',
};
const AWS = {
  type: 'AWS_SIGV4',
  accessKeyId: 'AKID',
  secretAccessKey: 's3cret',
  sessionToken: 't0ken',
  region: 'eu-central-1',
  service: 's3',
};
const DIGEST = { type: 'DIGEST', username: 'monitor', password: 's3cret' };

const requestWith = (auth: unknown, more: object = {}) => ({
  url: 'https://api.example.com/',
  auth,
  ...more,
});

function problemsOf(auth: unknown, more: object = {}): readonly string[] {
  const parsed = apiRequestSchema.safeParse(requestWith(auth, more));
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}

describe('auth', () => {
  test('takes the fields of its type, and requires those that are needed', () => {
    expect([OAUTH, AWS, DIGEST, null].map((auth) => problemsOf(auth))).toEqual([[], [], [], []]);
    expect(problemsOf({ ...DIGEST, password: '' })).toEqual(['auth.password is needed for DIGEST']);
    expect(problemsOf({ ...DIGEST, region: 'eu' })).toEqual(['auth.region is not for DIGEST']);
    expect(problemsOf({ ...OAUTH, tokenUrl: 'https://user:pw@login.example.com/' })).toEqual([
      'auth.tokenUrl must be an http or https URL without a user name',
    ]);
    expect(problemsOf({ ...OAUTH, tokenUrl: '{{LOGIN}}/token' })).toEqual([]);
  });

  test('is refused beside basicAuth', () => {
    const basicAuth = { username: 'a', password: 'b' };
    expect(problemsOf(DIGEST, { basicAuth })).toEqual([
      'auth must be null if basicAuth is given: a request has one of them',
    ]);
  });

  test('is returned without its secrets', () => {
    expect([OAUTH, AWS, DIGEST].map((auth) => maskRequest(requestWith(auth)).auth)).toEqual([
      { ...OAUTH, clientSecret: MASK },
      { ...AWS, secretAccessKey: MASK, sessionToken: MASK },
      { ...DIGEST, password: MASK },
    ]);
    const named = { ...OAUTH, clientSecret: '{{SECRET}}' };
    expect(maskRequest(requestWith(named)).auth).toEqual(named);
  });
});

describe('an update', () => {
  function updated(stored: unknown, given: unknown) {
    const before = requestWith(stored);
    const { request, problems } = withRetainedCredentials(given, {
      before,
      changeOf: (other) =>
        targetChange(
          { target: targetOf(before), variables: [] },
          { target: targetOf(other), variables: [] },
          null,
        ),
    });
    return { auth: (request as { auth?: unknown }).auth, problems };
  }

  test('keeps the secrets that it omits or sends back masked', () => {
    const { clientSecret: _, ...shown } = OAUTH;
    const kept = { auth: OAUTH, problems: [] };
    expect(updated(OAUTH, requestWith(shown))).toEqual(kept);
    expect(updated(OAUTH, requestWith({ ...OAUTH, clientSecret: MASK }))).toEqual(kept);
    expect(updated(OAUTH, { url: 'https://api.example.com/' })).toEqual(kept);
    expect(updated(AWS, requestWith({ ...AWS, sessionToken: null })).auth).toEqual(
      (({ sessionToken: _removed, ...rest }) => rest)(AWS),
    );
    expect(updated(OAUTH, requestWith(null))).toEqual({ auth: null, problems: [] });
  });

  test('must send the secret again if another host would receive it or its token', () => {
    const elsewhere = requestWith({
      ...OAUTH,
      clientSecret: MASK,
      tokenUrl: 'https://evil.example.com/token',
    });
    expect(updated(OAUTH, elsewhere).problems).toMatchObject([
      {
        path: ['auth', 'clientSecret'],
        message: expect.stringContaining('the tokenUrl leads to another scheme, host or port'),
      },
    ]);
    const { clientSecret: _, ...shown } = OAUTH;
    const target = requestWith(shown, { url: 'https://evil.example.com/' });
    expect(updated(OAUTH, target).problems).toMatchObject([{ path: ['auth', 'clientSecret'] }]);
    expect(updated(DIGEST, requestWith({ ...OAUTH, clientSecret: MASK })).problems).toMatchObject([
      { path: ['auth', 'clientSecret'], message: expect.stringContaining('none is stored') },
    ]);
    expect(maskProblems(requestWith({ ...OAUTH, clientSecret: MASK }))).toHaveLength(1);
  });
});
