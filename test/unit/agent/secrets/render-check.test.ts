import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepareRequest } from '../../../../src/agent/probes/http/prepare-request.ts';
import { namesFromOthers, renderCheck } from '../../../../src/agent/secrets/render-check.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { Failure } from '../../../../src/model/result/error-codes.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';

const from =
  (values: Readonly<Record<string, string>>) =>
  (name: string): string | undefined =>
    Object.hasOwn(values, name) ? values[name] : undefined;

function rendered<C extends Check>(check: C, values: Readonly<Record<string, string>>): C {
  const result = renderCheck(check, from(values));
  if (!result.ok) throw new Error(result.failure.message);
  return result.check;
}

function failureOf(check: Check, values: Readonly<Record<string, string>>): Failure {
  const result = renderCheck(check, from(values));
  if (result.ok) throw new Error('it was filled in');
  return result.failure;
}

const apiCheck = (request: object, fields: CheckFields = {}) =>
  checkOf('API', { request, ...fields });

const EVERYWHERE = {
  url: 'https://a.example/{{V}}/x?q={{ V }}',
  headers: [{ key: 'x-token', value: 'Bearer {{V}}' }],
  queryParameters: [{ key: 'k{{V}}', value: '{{{V}}}' }],
  method: 'POST',
  bodyType: 'RAW',
  body: '<{{V}}|{{{V}}}>',
  basicAuth: { username: 'u-{{V}}', password: '{{V}}' },
};

describe('a check without templates', () => {
  it.each([
    checkOf('URL'),
    checkOf('TCP', { request: { data: 'a {b} {{ }} {{1}}' } }),
    apiCheck({ headers: [{ key: 'a', value: '{{' }], body: '{"a":{"b":{}}}' }),
    checkOf('DNS'),
    checkOf('ICMP', { variables: [{ key: 'A', value: 'b' }] }),
  ])('comes back as it is: $checkType', (check) => {
    expect(renderCheck(check, from({}))).toEqual({ ok: true, check });
    expect(rendered(check, {})).toBe(check);
    expect(namesFromOthers(check)).toEqual([]);
  });
});

describe('a check with templates', () => {
  it('has the value in every field, and everything else unchanged', () => {
    const check = apiCheck(EVERYWHERE, { variables: [{ key: 'OTHER', value: 'x' }] });
    expect(rendered(check, { V: 'a/b c' })).toEqual({
      ...check,
      request: {
        ...check.request,
        url: 'https://a.example/a%2Fb%20c/x?q=a%2Fb%20c',
        headers: [{ key: 'x-token', value: 'Bearer a/b c', locked: false }],
        queryParameters: [{ key: 'ka/b c', value: 'a/b c', locked: false }],
        body: '<a/b c|a/b c>',
        basicAuth: { username: 'u-a/b c', password: 'a/b c' },
      },
    });
    // The check that was given is unchanged.
    expect(check.request.url).toBe(EVERYWHERE.url);
  });

  it('is sent so that its target reads the value everywhere', () => {
    const check = apiCheck(EVERYWHERE);
    const latin1 = fc
      .string({
        unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      })
      .filter((text) => !/[\u007f]/.test(text) && text.trim() === text && !/^\.{0,2}$/.test(text));
    fc.assert(
      fc.property(latin1, (value) => {
        const sent = prepareRequest(rendered(check, { V: value }).request);
        expect(decodeURIComponent(sent.url.pathname)).toBe(`/${value}/x`);
        const query = sent.url.search
          .slice(1)
          .split('&')
          .map((pair) => pair.split('=').map(decodeURIComponent));
        expect(query).toEqual([
          ['q', value],
          [`k${value}`, value],
        ]);
        const headers = new Map(sent.headers);
        expect(headers.get('x-token')).toBe(`Bearer ${value}`);
        const credentials = headers.get('authorization')?.slice('Basic '.length) ?? '';
        expect(Buffer.from(credentials, 'base64').toString()).toBe(`u-${value}:${value}`);
        expect(sent.body?.toString()).toBe(`<${value}|${value}>`);
      }),
    );
  });

  it('fills in the url of a URL check and the data of a TCP check', () => {
    const url = checkOf('URL', { request: { url: '{{BASE}}/health?t={{T}}' } });
    expect(rendered(url, { BASE: 'http://a:81/b', T: '&' }).request.url).toBe(
      'http://a:81/b/health?t=%26',
    );
    const tcp = checkOf('TCP', { request: { data: 'AUTH {{{P}}}\r\n' } });
    expect(rendered(tcp, { P: 'a\nb' }).request.data).toBe('AUTH a\nb\r\n');
  });

  it('prefers its own variables to those of others', () => {
    const variables = [{ key: 'A', value: '' }];
    const check = checkOf('TCP', { variables, request: { data: '[{{A}}{{B}}]' } });
    expect(rendered(check, { A: 'theirs', B: 'b' }).request.data).toBe('[b]');
    expect(namesFromOthers(check)).toEqual(['B']);
  });

  it('does not fill in templates in values', () => {
    const check = checkOf('TCP', { request: { data: '{{A}}{{B}}' } });
    expect(rendered(check, { A: '{{B}}', B: '{{UNKNOWN}}' }).request.data).toBe('{{B}}{{UNKNOWN}}');
  });

  it('finds no variable under a name that every object has', () => {
    const check = checkOf('TCP', { request: { data: '{{constructor}}{{__proto__}}' } });
    expect(failureOf(check, {}).code).toBe('VARIABLE_UNKNOWN');
  });

  it('is filled in anew for each run', () => {
    const check = checkOf('TCP', { request: { data: '{{A}}' } });
    expect(rendered(check, { A: '1' }).request.data).toBe('1');
    expect(rendered(check, { A: '2' }).request.data).toBe('2');
  });
});

describe('a credential that the service cannot decrypt', () => {
  const NOT_READABLE = '{{CREDENTIAL_NOT_READABLE}}';

  it('fails with its own message, whatever variables exist', () => {
    const check = apiCheck({ basicAuth: { username: 'user', password: NOT_READABLE } });
    expect(failureOf(check, { CREDENTIAL_NOT_READABLE: 'planted' })).toEqual({
      code: 'CREDENTIAL_NOT_READABLE',
      message:
        'The password of basicAuth has a credential, or a secret variable of the check, that the service cannot decrypt, so nothing was sent: give it to the check again, or put the key that encrypted it after the other keys in ENCRYPTION_KEY of the service and restart it.',
    });
    // It is not a variable, so nobody could define it.
    expect(namesFromOthers(check)).toEqual([]);
  });

  it('is reported in every field that contains it', () => {
    const check = apiCheck({
      url: `https://user:${NOT_READABLE}@{{HOST}}/`,
      headers: [{ key: 'Authorization', value: NOT_READABLE }],
    });
    const { code, message } = failureOf(check, {});
    expect(code).toBe('CREDENTIAL_NOT_READABLE');
    expect(message).toMatch(/^The url has a .* \(also The header Authorization\): /);
  });
});

describe('a variable of the account that the service cannot decrypt', () => {
  const SEALED = new Set(['SEALED']);
  const check = apiCheck({ headers: [{ key: 'X-Token', value: '{{UNKNOWN}} {{SEALED}}' }] });

  it('is named before unknown ones, with what to do', () => {
    expect(renderCheck(check, () => undefined, SEALED)).toEqual({
      ok: false,
      failure: {
        code: 'CREDENTIAL_NOT_READABLE',
        message:
          'The header X-Token names the variable SEALED of the account, which the service cannot decrypt, so nothing was sent: give the variable its value again, or put the key that encrypted it after the other keys in ENCRYPTION_KEY of the service and restart it.',
      },
    });
  });

  it('is no failure where the agent or the check has a value for it', () => {
    expect(renderCheck(check, () => 'own', SEALED)).toMatchObject({ ok: true });
  });
});

describe('an unknown variable', () => {
  it('is reported with its field and where it can be defined', () => {
    const check = apiCheck({ headers: [{ key: 'X-Token', value: '{{A}} {{TOKEN}}' }] });
    const { code, message } = failureOf(check, { A: 'planted' });
    expect(code).toBe('VARIABLE_UNKNOWN');
    expect(message).toMatch(/^The header X-Token names the variable TOKEN, .*VARIABLES_DIR\.$/);
    expect(message).not.toContain('planted');
  });

  it('names a few of the others, too', () => {
    const names = Array.from({ length: 9 }, (_, n) => `{{V${n}}}`).join('');
    const { message } = failureOf(checkOf('TCP', { request: { data: names } }), {});
    expect(message).toContain('The data names the variable V0,');
    expect(message).toContain('(also V1, V2, V3, V4, V5 and others)');
  });
});

describe('a rendered text that cannot be sent', () => {
  const HEADER = { headers: [{ key: 'X-Token', value: 'Bearer {{{TOKEN}}}' }] };
  const PASSWORD = { basicAuth: { username: 'me', password: '{{TOKEN}}' } };

  it.each<[object, string, string]>([
    [
      HEADER,
      'planted\n',
      'The header X-Token cannot be sent: the value of the variable TOKEN ends with a line break: store it without one.',
    ],
    [HEADER, 'planted\r\n', 'ends with a line break'],
    [HEADER, 'planted\nx: y', 'contains a line break'],
    [HEADER, 'planted\0', 'contains a control character'],
    [HEADER, 'planted€', 'not in Latin-1'],
    [
      PASSWORD,
      'planted\n',
      'The password of basicAuth cannot be sent: the value of the variable TOKEN ends with a line break',
    ],
    [
      { url: '{{{TOKEN}}}/path' },
      'planted',
      'The url cannot be sent: it is not an http or https URL with the value of the variable TOKEN filled in.',
    ],
    [{ url: 'https://{{TOKEN}}/path' }, 'plan/ted', '{{TOKEN}} is URI-encoded; {{{TOKEN}}} is not'],
    [{ url: '{{TOKEN}}/path' }, 'https://planted\n', 'TOKEN ends with a line break'],
    [{ url: 'https://a:{{TOKEN}}/path' }, 'planted', 'not an http or https URL'],
    [
      { url: 'https://a/{{TOKEN}}{{TOKEN}}' },
      'planted'.repeat(1500),
      'The url cannot be sent: it is longer than 20000 characters with the value of the variable TOKEN filled in.',
    ],
    [
      { body: '{{TOKEN}}'.repeat(100_000) },
      'planted'.repeat(1500),
      'The body cannot be sent: it is longer than 1000000 characters',
    ],
    [
      { queryParameters: [{ key: 'token', value: '{{TOKEN}}{{TOKEN}}' }] },
      'planted'.repeat(1500),
      'The query parameter token cannot be sent: it is longer',
    ],
  ])('is a failure that names field and variable, and no value (%#)', (request, value, message) => {
    const failure = failureOf(apiCheck(request), { TOKEN: value });
    expect(failure.code).toBe('REQUEST_INVALID');
    expect(failure.message).toContain(message);
    expect(failure.message).not.toMatch(/plan/);
  });

  it('sends line breaks where they can be sent', () => {
    const check = apiCheck({
      url: 'https://a.example/?a={{A}}',
      queryParameters: [{ key: 'a', value: '{{A}}' }],
      body: '{{A}}',
    });
    const { request } = rendered(check, { A: 'a\nb' });
    expect(request.url).toBe('https://a.example/?a=a%0Ab');
    expect(request.body).toBe('a\nb');
  });
});
