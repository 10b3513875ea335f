import { describe, expect, test } from 'vitest';
import {
  digestAuthorization,
  digestChallengeOf,
} from '../../../../../../src/agent/probes/http/auth/digest-auth.ts';

const headOf = (challenge: string, status = 401) => ({
  status,
  statusText: '',
  httpVersion: '1.1' as const,
  headers: { 'www-authenticate': challenge },
});

/** RFC 7616 3.9.1. */
const NONCE = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v';
const PARAMETERS = `realm="http-auth@example.org", qop="auth, auth-int", nonce="${NONCE}", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;
const CREDENTIALS = { username: 'Mufasa', password: 'Circle of Life' };
const REQUEST = {
  method: 'GET',
  uri: '/dir/index.html',
  count: 1,
  clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
};

function answerTo(challenge: string): string | null {
  const parsed = digestChallengeOf(headOf(challenge));
  return parsed === null ? null : digestAuthorization(parsed, CREDENTIALS, REQUEST).value;
}

test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
])('the answer by %s is that of RFC 7616 3.9.1', (algorithm, response) => {
  expect(answerTo(`Digest ${PARAMETERS}, algorithm=${algorithm}`)).toBe(
    [
      'Digest username="Mufasa"',
      'realm="http-auth@example.org"',
      `nonce="${NONCE}"`,
      'uri="/dir/index.html"',
      `algorithm=${algorithm}`,
      'qop=auth',
      'nc=00000001',
      `cnonce="${REQUEST.clientNonce}"`,
      `response="${response}"`,
      'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
    ].join(', '),
  );
});

test('the answer without qop is that of RFC 2069, as corrected by its errata', () => {
  const challenge =
    'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="x"';
  const parsed = digestChallengeOf(headOf(challenge));
  if (parsed === null) throw new Error('no challenge');
  const credentials = { username: 'Mufasa', password: 'CircleOfLife' };
  expect(digestAuthorization(parsed, credentials, REQUEST).value).toContain(
    'response="1949323746fe6a43ef61f9606e7febea"',
  );
});

test('a session hashes the nonces of both sides into the key', () => {
  const plain = answerTo(`Digest ${PARAMETERS}, algorithm=SHA-256`) ?? '';
  const session = answerTo(`Digest ${PARAMETERS}, algorithm=SHA-256-sess`) ?? '';
  expect(session).toContain('algorithm=SHA-256-sess');
  const responseIn = (text: string) => /response="(\w{64})"/.exec(text)?.[1];
  expect(responseIn(session)).toBeDefined();
  expect(responseIn(session)).not.toBe(responseIn(plain));
});

describe('the first of several challenges that can be answered is used', () => {
  test.each<[string, string | null]>([
    [`Basic realm="a", Digest ${PARAMETERS}, algorithm=SHA-256`, 'SHA-256'],
    [`Digest ${PARAMETERS}, algorithm=SHA-512-256, Digest ${PARAMETERS}, algorithm=MD5`, 'MD5'],
    [`Digest realm="a \\"b\\", Basic", nonce="n"`, null],
    ['Digest realm="a", nonce="n", qop="auth-int"', 'none'],
    ['Digest realm="a"', 'none'],
    ['Bearer realm="a"', 'none'],
    ['', 'none'],
  ])('%s: %s', (challenge, algorithm) => {
    const found = digestChallengeOf(headOf(challenge));
    expect(found === null ? 'none' : found.algorithm).toBe(algorithm);
  });

  test('only in the response to a 401', () => {
    expect(digestChallengeOf(headOf(`Digest ${PARAMETERS}`, 403))).toBeNull();
  });
});
