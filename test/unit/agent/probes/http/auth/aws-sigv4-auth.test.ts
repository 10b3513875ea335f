import { expect, test } from 'vitest';
import { AwsSigV4Auth } from '../../../../../../src/agent/probes/http/auth/aws-sigv4-auth.ts';
import type { ProbeContext } from '../../../../../../src/agent/probes/probe.ts';

/** The time of the examples of AWS. */
const context = { clock: { wallMs: () => Date.UTC(2015, 7, 30, 12, 36) } } as ProbeContext;

const KEY = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: '',
  region: 'us-east-1',
  service: 'service',
};

async function signed(
  url: string,
  headers: [string, string][] = [],
  key: Partial<typeof KEY> = {},
) {
  const request = { method: 'GET', url: new URL(url), headers, body: null };
  const authorized = await new AwsSigV4Auth({ ...KEY, ...key }).authorize(request, context);
  return authorized.ok ? Object.fromEntries(authorized.headers) : {};
}

test.each<[string, string, string]>([
  [
    'get-vanilla',
    'https://example.amazonaws.com/',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'get-vanilla-query-order-key-case',
    'https://example.amazonaws.com/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
])('the signature of %s is that of the test suite of AWS', async (_name, url, signature) => {
  expect(await signed(url)).toEqual({
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    'x-amz-date': '20150830T123600Z',
  });
});

test('a signature covers the type of the body, as in the example for IAM', async () => {
  const type = 'application/x-www-form-urlencoded; charset=utf-8';
  const url = 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08';
  const { authorization } = await signed(url, [['Content-Type', type]], { service: 'iam' });
  expect(authorization).toContain('SignedHeaders=content-type;host;x-amz-date');
  expect(authorization).toContain(
    'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  );
});

test('temporary credentials send their token, and S3 gets the hash of the body', async () => {
  const headers = await signed('https://bucket.s3.amazonaws.com/a%20b', [], {
    sessionToken: 'a-token',
    service: 's3',
  });
  expect(headers['x-amz-security-token']).toBe('a-token');
  expect(headers['x-amz-content-sha256']).toBe(
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  );
  expect(headers.authorization).toContain(
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token',
  );
});
