import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnalysisScrubber } from '../../../../../src/service/root-cause/redaction/analysis-scrubber.ts';
import { secretsOfCheck } from '../../../../../src/service/root-cause/redaction/secrets-of-check.ts';
import { caseCount } from '../../../../support/nightly.ts';
import { checkOf } from '../../../../support/samples/root-cause-cases.ts';
import { encodingsOf } from '../../../../support/samples/secret-encodings.ts';

const SECRETS = [
  'hunter2!',
  'pa ss/w+rd',
  'say "hi" \\ to\nall',
  '<b>&\'quoted"</b>',
  'größe-ßé😀',
  'C:\\\\keys\\',
  'x1y2',
  'ZXCV+/=-_a0',
];

describe('secrets that are known', () => {
  it.each(SECRETS)('%j is masked in every encoding, and nothing around it', (secret) => {
    const scrubber = createAnalysisScrubber([secret]);
    for (const [encoding, encoded] of Object.entries(encodingsOf(secret))) {
      const scrubbed = scrubber.text(`before ${encoded} after`);
      expect(scrubbed, encoding).toMatch(/^before .*\*{8}.* after$/s);
      expect(scrubbed, encoding).not.toContain(encoded);
    }
  });

  it('are masked inside of base64 at every alignment', () => {
    const secret = 'correct horse';
    const scrubber = createAnalysisScrubber([secret]);
    for (const before of ['', 'a', 'ab', 'abc']) {
      for (const after of ['', 'z', 'zy', 'zyx']) {
        for (const form of ['base64', 'base64url'] as const) {
          const whole = Buffer.from(`user:${before}${secret}${after}`).toString(form);
          const scrubbed = scrubber.text(`(${whole})`);
          const left = Buffer.from(scrubbed.replaceAll(/[^A-Za-z0-9+/_-]/g, ''), 'base64');
          expect(scrubbed).toContain('********');
          expect(left.toString('latin1')).not.toContain('orrect hors');
        }
      }
    }
  });

  it('are masked wherever they stand, whatever they are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const secrets = fc.string({ unit: 'binary', minLength: 4, maxLength: 30 });
    fc.assert(
      fc.property(text, secrets, text, (before, secret, after) => {
        fc.pre(/[\p{L}\p{N}]/u.test(secret) && [...secret].length >= 4);
        const scrubber = createAnalysisScrubber([secret]);
        fc.pre(!'********'.includes(secret));
        for (const encoded of [secret, JSON.stringify(secret).slice(1, -1)]) {
          const scrubbed = scrubber.text(before + encoded + after);
          expect(scrubber.holdsKnown(scrubbed)).toBe(false);
        }
      }),
      { numRuns: caseCount(60) },
    );
  });

  it('are masked in one form inside of another, and where they have no letter and no digit', () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    for (const secret of ['correct horse', '!@#$%^&*()']) {
      const scrubber = createAnalysisScrubber([secret]);
      const nested = base64(JSON.stringify({ inner: base64(`user:${secret}`) }));
      for (const encoded of [secret, nested]) {
        expect(scrubber.text(`(${encoded})`)).toMatch(/^\(.*\*{8}.*\)$/);
      }
    }
  });

  it('are masked whole where one is a part of another', () => {
    const scrubber = createAnalysisScrubber(['swordfish', 'swordfish-and-more']);
    expect(scrubber.text('(swordfish-and-more)(swordfish)')).toBe('(********)(********)');
  });

  it.each(['', 'abc', '*', '/', '----', 'http://', 'true'])('%j is none', (value) => {
    const text = `a ${value} b http:// true ---- abc`;
    expect(createAnalysisScrubber([value]).text(text)).toBe(text);
  });

  it('may be many and long', () => {
    const many = Array.from({ length: 400 }, (_, number) => `secret ${number} "${number}" value`);
    const long = Array.from({ length: 700 }, (_, number) => `${number} é"\\ Ab`).join('');
    const scrubber = createAnalysisScrubber([...many, long]);
    expect(scrubber.text(`<${many[399]}> ${JSON.stringify(long)}`)).not.toMatch(/secret|é/);
  });

  it('make no text slow', () => {
    const scrubber = createAnalysisScrubber(['\\\\\\\\"\\\\"\\"a1b2', `${'"\\'.repeat(20)}x1`]);
    for (const piece of ['\\', '%25', '&amp;', '"\\', '=', 'a=', '?a=', '://']) {
      // In proportion to its length it takes a moment; with its square the test runs out of time.
      expect(scrubber.text(piece.repeat(20_000 / piece.length))).not.toBe('');
    }
  });
});

describe('what looks like a secret', () => {
  const scrubber = createAnalysisScrubber([]);
  it.each([
    ['the key vk_0123456789abcdef0123456789abcdef', '0123456789abcdef'],
    ['pl_0123456789abcdef0123456789abcdef', '0123456789abcdef'],
    ['Authorization: Bearer abc.DEF-123', 'DEF'],
    ['sent "bearer  tok_en/1" to', 'tok_en'],
    ['Basic dXNlcjpodW50ZXIy', 'dXNlcjpodW50ZXIy'],
    ['AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
    ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'K7MDENG'],
    ['eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', 'eyJzdWIi'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----', 'MIIabc'],
    ['-----BEGIN PRIVATE KEY-----\\nMIIcut', 'MIIcut'],
    ['https://bob:hush@host.test/', 'hush'],
    ['https:\\/\\/bob:hu@sh@host.test\\/', 'sh@'],
    ['GET https://host.test/path?session=hush&x=1#frag', 'hush'],
    ['/path?session=hush&amp;pin=4711', '4711'],
    ['next=https%3A%2F%2Fa.test%2F%3Ftoken%3Dhush&b', 'hush'],
    ['{"password":"a b, c"}', 'a b'],
    ['"{\\"dbPassword\\": \\"a \\\\\\" b\\", \\"x\\": 1}"', '\\\\\\" b'],
    ["{'api_key': 'hush'}", 'hush'],
    ['password=hush', 'hush'],
    ['client_secret: hush', 'hush'],
    ['Set-Cookie: a=hush; Path=/', 'hush'],
    ['x-api-key = hush', 'hush'],
    ['ghp_0123456789abcdefghij', 'abcdefghij'],
    ['sk-proj-abcdefghijklmnop', 'abcdefghij'],
    ['session 3f2504e0-4f89-41d3-9a0c-0305e82c3301 gone', '4f89-41d3'],
  ])('%s', (text, secret) => {
    const scrubbed = scrubber.text(text);
    expect(scrubbed).toContain('********');
    expect(scrubbed).not.toContain(secret);
  });

  it('leaves what an analysis is made of', () => {
    const text =
      'https://shop.test answered with status 503 after 2026-01-01 12:00:00 UTC; TLS_CERT_EXPIRED (CERT_HAS_EXPIRED): the certificate of *.shop.test, issued by CN=Example Authority R3, expired. Basic checks pass; the token is invalid.';
    expect(scrubber.text(text)).toBe(text);
  });
});

describe('the secrets of a check', () => {
  it('are those of its request', () => {
    const check = checkOf({
      checkType: 'API',
      request: {
        url: 'https://u:p%40ss@shop.test/?key=one-key&page=12',
        method: 'POST',
        headers: [
          { key: 'Authorization', value: 'Bearer two' },
          { key: 'X-Any', value: 'three', locked: true },
          { key: 'Accept', value: 'text/html' },
        ],
        queryParameters: [{ key: 'q', value: 'abcdefg7' }],
        bodyType: 'JSON',
        body: '{"user":"bob","password":"four"}',
        basicAuth: { username: 'bob', password: 'five' },
      },
    });
    expect(new Set(secretsOfCheck(check))).toEqual(
      new Set([
        'p%40ss',
        'p@ss',
        'one-key',
        'Bearer two',
        'two',
        'three',
        'abcdefg7',
        'four',
        'five',
      ]),
    );
    expect(secretsOfCheck(null)).toEqual([]);
  });

  it('are user names, too, where there is no password', () => {
    const check = checkOf({
      checkType: 'API',
      request: {
        url: 'https://to%20ken@shop.test/',
        basicAuth: { username: 'other', password: '' },
      },
    });
    expect(new Set(secretsOfCheck(check))).toEqual(new Set(['to%20ken', 'to ken', 'other']));
  });
});
