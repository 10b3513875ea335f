import { describe, expect, it } from 'vitest';
import type { OwnVariable } from '../../../../src/model/check/variable.ts';
import { maskRequest } from '../../../../src/model/credentials/credential-fields.ts';
import { targetChange, targetOf } from '../../../../src/model/credentials/credential-target.ts';
import { isCredential } from '../../../../src/model/credentials/credential-text.ts';
import { MASK } from '../../../../src/model/credentials/mask.ts';
import {
  maskProxyUrl,
  withRetainedSecret,
} from '../../../../src/model/credentials/proxy-secret.ts';
import {
  maskProblems,
  withRetainedCredentials,
} from '../../../../src/model/credentials/retained-credentials.ts';
import {
  mapUrlSecret,
  maskUserinfo,
  urlSecretOf,
} from '../../../../src/model/credentials/url-secret.ts';

const pair = (key: string, value: unknown) => ({ key, value, locked: false });

describe('a text in the field of a credential', () => {
  it.each([
    ['hunter2', true],
    ['Bearer hunter2', true],
    ['Bearer', true],
    ['session={{SID}}', true],
    ['hunter2 {{TOKEN}}', true],
    ['Bearer {{TOKEN}}hunter2', true],
    ['Bearer hunter2{{TOKEN}}', true],
    ['{{}}', true],
    [MASK, true],
    ['', false],
    ['  ', false],
    ['{{TOKEN}}', false],
    ['{{{ TOKEN }}}', false],
    ['Bearer {{TOKEN}}', false],
    ['basic\t{{CREDENTIALS}}', false],
    ['{{USER}}:{{PASSWORD}}', false],
  ])('%j is masked: %s', (text, expected) => {
    expect(isCredential(text)).toBe(expected);
  });
});

describe('the password in a URL', () => {
  const passwordOf = (text: string): string | null => {
    const secret = urlSecretOf(text);
    return secret?.part === 'password' ? secret.text : null;
  };

  it.each([
    ['https://user:pw@host/path', 'pw'],
    ['https://user:p:w@host', 'p:w'],
    ['https://:pw@host', 'pw'],
    ['https://user:@host', null],
    ['https://a@b:pw@host/', 'pw'],
    ['https://user:p@w@host/', 'p@w'],
    ['HTTPS://user:pw@[::1]:8443/?q#f', 'pw'],
    ['http://\\\\user:pw@host/', 'pw'],
    ['http://us\ter:pw@host/', 'pw'],
    ['http:/\n/user:pw@host/', 'pw'],
    ['{{SCHEME}}://user:pw@host/', 'pw'],
    ['{{SCHEME}}user:pw@host/', 'pw'],
    ['https://{{USER}}:{{PASSWORD}}@{{HOST}}/', '{{PASSWORD}}'],
    ['https://user@host/', null],
    ['https://host:8080/', null],
    ['https://host:8080/a:b@c', null],
    ['https://host/?next=http://user:pw@other/', null],
    ['https://user@host:8080/', null],
    ['{{BASE}}/path:a@b', null],
    ['{{BASE}}', null],
    ['', null],
  ])('of %j is %j', (text, password) => {
    expect(passwordOf(text)).toBe(password);
    if (password !== null) expect(passwordOf(mapUrlSecret(text, () => 'other'))).toBe('other');
  });

  it.each([
    ['https://token@host/', 'token', 'https://x@host/'],
    ['https://token@host:8080/a?b@c', 'token', 'https://x@host:8080/a?b@c'],
    ['https://token:@host/', 'token', 'https://x:@host/'],
    ['https://a@b@host/', 'a@b', 'https://x@host/'],
    ['HTTP://token@[::1]:8080', 'token', 'HTTP://x@[::1]:8080'],
    ['{{SCHEME}}://token@{{HOST}}/', 'token', '{{SCHEME}}://x@{{HOST}}/'],
    ['{{SCHEME}}token@host/', 'token', '{{SCHEME}}x@host/'],
    ['http:/\n/to\tken@host/', 'token', 'http://x@host/'],
    ['http:\\\\token@host/', 'token', 'http:\\\\x@host/'],
    ['https://{{USER}}@host/', '{{USER}}', 'https://x@host/'],
    ['https://user:pw@host/', null, 'https://user:x@host/'],
    ['https://:pw@host/', null, 'https://:x@host/'],
    ['https://:@host/', null, 'https://:@host/'],
    ['https://@host/', null, 'https://@host/'],
    ['https:@host/', null, 'https:@host/'],
    ['https://host:8080/a@b', null, 'https://host:8080/a@b'],
    ['{{BASE}}@host/', null, '{{BASE}}@host/'],
    ['mail@host', null, 'mail@host'],
    ['', null, ''],
  ])('if missing, makes the user name of %j the secret %j', (text, user, other) => {
    const secret = urlSecretOf(text);
    expect(secret?.part === 'username' ? secret.text : null).toBe(user);
    expect(mapUrlSecret(text, () => 'x')).toBe(other);
  });

  it('is the only part of the URL that a new one changes', () => {
    expect(mapUrlSecret('https://user:pw@host:8/p?q=a:b@c#f', () => MASK)).toBe(
      `https://user:${MASK}@host:8/p?q=a:b@c#f`,
    );
  });
});

it('a request is shown without its credentials, and otherwise unchanged', () => {
  const request = {
    method: 'GET',
    url: 'https://user:pw@host/path?token=a',
    headers: [
      pair('AUTHORIZATION', 'Bearer a'),
      pair('authorization', 'Bearer {{TOKEN}}'),
      pair('proxy-authorization', 'Basic a'),
      pair('Cookie', 'a=b'),
      pair('X-API-Key', 'a'),
      pair('X-Plain', 'a'),
      pair('X-Auth-Token', ''),
    ],
    basicAuth: { username: 'user', password: 'pw' },
    body: 'a',
  };
  const shown = maskRequest(request);
  expect(shown).toEqual({
    ...request,
    url: `https://user:${MASK}@host/path?token=a`,
    headers: [MASK, 'Bearer {{TOKEN}}', MASK, MASK, MASK, 'a', ''].map((value, index) => ({
      ...request.headers[index],
      value,
    })),
    basicAuth: { username: 'user', password: MASK },
  });
  expect(maskRequest(shown)).toEqual(shown);
  for (const other of [null, 'text', [], { hostname: 'a', port: 1 }, { url: 1, headers: {} }]) {
    expect(maskRequest(other)).toEqual(other);
  }
});

const STORED = {
  url: 'https://user:url-pw@shop.test/a',
  headers: [pair('Authorization', 'Bearer token'), pair('X-Plain', 'plain')],
  basicAuth: { username: 'user', password: 'basic-pw' },
};
const SHOWN = maskRequest(STORED);

const own = (key: string, value: string, secret = false) => ({ key, value, secret });

const keepWithMessages = (
  given: unknown,
  before: object = STORED,
  {
    variables = [],
    given: others = variables,
  }: { readonly variables?: readonly OwnVariable[]; readonly given?: readonly OwnVariable[] } = {},
) => {
  const secret = 'url' in before ? (urlSecretOf(String(before.url))?.text ?? null) : null;
  const target = targetOf(before, secret);
  const { request, problems } = withRetainedCredentials(given, {
    before,
    changeOf: (other) =>
      targetChange(
        { target, variables },
        { target: targetOf(other, secret), variables: others },
        null,
      ),
  });
  return { request, problems };
};

const keep = (...args: Parameters<typeof keepWithMessages>) => {
  const { request, problems } = keepWithMessages(...args);
  return { request, problems: problems.map(({ path }) => path.join('.')) };
};

describe('a user name without a password', () => {
  const TOKENS = {
    url: 'https://url-token@shop.test/a',
    headers: [],
    basicAuth: { username: 'basic-token', password: '' },
  };
  const HIDDEN = {
    url: `https://${MASK}@shop.test/a`,
    headers: [],
    basicAuth: { username: MASK, password: '' },
  };

  it('is masked like a password, and is shown beside a password', () => {
    expect(maskRequest(TOKENS)).toEqual(HIDDEN);
    expect(maskRequest(HIDDEN)).toEqual(HIDDEN);
    expect(maskRequest(STORED)).toEqual(SHOWN);
    const templates = { url: 'https://{{A}}@a.test/', basicAuth: { username: '{{A}}' } };
    expect(maskRequest(templates)).toEqual(templates);
  });

  it.each([
    ['nothing', undefined],
    ['what was shown', HIDDEN],
    ['no basicAuth', { url: HIDDEN.url, headers: [] }],
    ['an empty basicAuth', { ...HIDDEN, basicAuth: {} }],
    ['a null for the password', { ...HIDDEN, basicAuth: { username: MASK, password: null } }],
    ['no user name', { ...HIDDEN, basicAuth: { password: '' } }],
  ])('is kept by an update with %s', (_, given) => {
    expect(keep(given, TOKENS)).toEqual({ request: TOKENS, problems: [] });
    expect(keep(given, HIDDEN)).toEqual({ request: HIDDEN, problems: [] });
  });

  it('is removed and replaced by an update', () => {
    const bare = { url: 'https://shop.test/', headers: [], basicAuth: null };
    expect(keep(bare, TOKENS)).toEqual({ request: bare, problems: [] });
    const others = { ...STORED, headers: [] };
    expect(keep(others, TOKENS)).toEqual({ request: others, problems: [] });
  });

  it('must be sent again for another target', () => {
    const elsewhere = ['basicAuth.username', 'url'];
    const url = `https://${MASK}@evil.test/a`;
    expect(keep({ ...HIDDEN, url }, TOKENS).problems.toSorted()).toEqual(elsewhere);
    const headers = [pair('Host', 'evil.test')];
    expect(keep({ ...HIDDEN, headers }, TOKENS).problems.toSorted()).toEqual(elsewhere);
    expect(keep({ url: 'https://evil.test/' }, TOKENS).problems).toEqual(['basicAuth.username']);
  });

  it('is not kept beside a password, where it would be shown', () => {
    const url = `https://${MASK}:pw@shop.test/a`;
    const basicAuth = { username: MASK, password: 'pw' };
    expect(keep({ ...HIDDEN, url, basicAuth }, TOKENS).problems).toEqual([
      'url',
      'basicAuth.username',
    ]);
    expect(keep({ ...HIDDEN, basicAuth: { password: 'pw' } }, TOKENS)).toEqual({
      request: { ...TOKENS, basicAuth: { password: 'pw' } },
      problems: [],
    });
  });

  it('is not kept in place of a password, nor a password in its place', () => {
    expect(keep(HIDDEN, STORED).problems).toEqual(['url', 'basicAuth.username']);
    expect(keep({ ...SHOWN, headers: [] }, TOKENS).problems).toEqual(['url', 'basicAuth.password']);
    expect(maskProblems(HIDDEN)).toHaveLength(2);
  });

  it('counts as part of the target if it contains a template', () => {
    const before = { ...TOKENS, url: 'https://a{{{A}}}@shop.test/' };
    const change = { variables: [own('A', 'a')], given: [own('A', '@evil.test/')] };
    expect(keep(undefined, before, change).problems).toEqual(['url', 'basicAuth.username']);
    expect(keep(maskRequest(before), before, change).problems).toHaveLength(2);
  });
});

describe('the reason why a value must be sent again', () => {
  const message = (given: unknown, before: object, changes: Parameters<typeof keep>[2] = {}) =>
    keepWithMessages(given, before, changes).problems.at(0)?.message;

  it('is the url, the Host header or the variable that changed', () => {
    expect(message({ ...SHOWN, url: 'https://evil.test/' }, STORED)).toBe(
      "must be sent again because the url leads to another scheme, host or port: a hidden value is kept only if scheme, host, port and Host header do not change, nor the check's variables in them or before the host (null removes it)",
    );
    const headers = [...SHOWN.headers, pair('host', 'other.test')];
    expect(message({ url: 'https://shop.test/', headers }, STORED)).toMatch(
      /^must be sent again because the Host header changed: .* \(null removes it\)$/,
    );
    expect(message({ ...SHOWN, headers }, { ...STORED, basicAuth: null })).toMatch(
      /^must be sent again because the Host header changed: .* \(a url without it removes it\)$/,
    );
    const templated = { ...STORED, url: 'https://{{HOST}}/' };
    const change = { variables: [own('HOST', 'a')], given: [own('HOST', 'b')] };
    expect(message(undefined, templated, change)).toMatch(
      /^must be sent again because the variable HOST changed, and .* may lead elsewhere: /,
    );
  });
});

describe('an update', () => {
  it.each([
    ['nothing', undefined, STORED],
    ['what was shown', SHOWN, STORED],
    ['another path and user', { ...SHOWN, url: `https://other:${MASK}@SHOP.test:443/b` }, null],
    ['no basicAuth', { url: SHOWN.url, headers: SHOWN.headers }, STORED],
    ['no password', { ...SHOWN, basicAuth: { username: 'user' } }, STORED],
    [
      'no value of a header, in another case',
      { ...SHOWN, headers: [{ key: 'AUTHORIZATION' }] },
      { ...STORED, headers: [{ key: 'AUTHORIZATION', value: 'Bearer token' }] },
    ],
    ['no headers', { url: SHOWN.url }, { ...STORED, headers: [STORED.headers[0]] }],
    ['other headers', { ...SHOWN, headers: [] }, { ...STORED, headers: [] }],
    ['a null for basicAuth', { ...SHOWN, basicAuth: null }, { ...STORED, basicAuth: null }],
    [
      'a null for the password',
      { ...SHOWN, basicAuth: { username: 'user', password: null } },
      { ...STORED, basicAuth: { username: 'user', password: '' } },
    ],
    [
      'a null for a header',
      { ...SHOWN, headers: [pair('authorization', null), pair('X-Plain', 'b')] },
      { ...STORED, headers: [pair('X-Plain', 'b')] },
    ],
  ])('with %s keeps the stored credentials that it does not change', (_, given, expected) => {
    const { request, problems } = keep(given);
    expect(problems).toEqual([]);
    if (expected !== null) expect(request).toEqual(expected);
  });

  it.each([
    ['another host', 'https://evil.test/a'],
    ['another port', 'https://shop.test:8443/a'],
    ['another scheme', 'http://shop.test/a'],
    ['a name that only begins so', 'https://shop.test.evil.test/a'],
    ['a user before another host', 'https://shop.test@evil.test/a'],
    ['a template for a host', 'https://{{HOST}}/a'],
    ['a template behind the host', 'https://shop.test{{REST}}/a'],
    ['a template for all', '{{URL}}'],
    ['a backslash', 'https://evil.test\\@shop.test/a'],
    ['a tab in the scheme', 'https:/\t/evil.test/a'],
    ['one slash', 'https:/evil.test/a'],
    ['no slash', 'https:evil.test/a'],
    ['a raw template before the host', 'https://{{{A}}}@shop.test/'],
    ['a raw template for a password', 'https://user:{{{A}}}@shop.test/'],
    ['a raw template among several @', 'https://a@{{{A}}}@shop.test/'],
    ['a raw template with text behind it', 'https://{{{A}}}.x@shop.test/'],
    ['a raw template with a line break in its URL', 'ht\ntps://{{{\tA}}}@shop.test/'],
    ['a raw template behind one slash', 'https:/{{{A}}}@shop.test/'],
    ['a raw template behind no slash', 'https:{{{A}}}@shop.test/'],
    ['a template for a user', 'https://{{A}}@shop.test/'],
    ['a template for a scheme', '{{A}}://shop.test/'],
    ['a template for a port', 'https://shop.test:{{A}}/'],
  ])('to %s must send each credential again', (_, url) => {
    const variables = { given: [own('A', 'evil.test/'), own('HOST', 'evil.test')] };
    expect(keep({ ...SHOWN, url }, STORED, variables).problems).toEqual([
      'basicAuth.password',
      'headers.0.value',
    ]);
    expect(keep({ url }).problems).toEqual(['basicAuth.password', 'headers.0.value']);
    const masked = url.replace('://', `://user:${MASK}@`);
    if (masked !== url && !url.includes('@'))
      expect(keep({ url: masked }).problems).toContain('url');
    const given = {
      url,
      headers: [pair('Authorization', 'Bearer new')],
      basicAuth: { username: 'user', password: 'new' },
    };
    expect(keep(given)).toEqual({ request: given, problems: [] });
    const without = { url, headers: [], basicAuth: null };
    expect(keep(without)).toEqual({ request: without, problems: [] });
  });

  it.each([
    ['the user', 'https://{{{A}}}@shop.test/'],
    ['the user, before a password', 'https://{{{A}}}:pw@shop.test/'],
    ['the password', 'https://user:{{{A}}}@shop.test/'],
    ['a part of the password', 'https://user:pw{{{A}}}@shop.test/'],
    ['a part of several @', 'https://user:pw@{{{A}}}@shop.test/'],
    ['the password behind no slash', 'https:user:{{{A}}}@shop.test/'],
    ['the password behind one slash', 'https:/user:{{{A}}}@shop.test/'],
    ['the password behind a backslash', 'https:\\user:{{{A}}}@shop.test/'],
    ['the password behind a scheme in a template', '{{S}}://user:{{{A}}}@shop.test/'],
    ['the user, with a line break', 'https:/\n/us\ter{{{A}}}@shop.test/'],
    ['the port', 'https://shop.test:{{A}}/'],
    ['the scheme', '{{A}}://shop.test/'],
    ['the host', 'https://user:pw@{{A}}/'],
  ])('of variables must send each credential again if one is %s', (_, url) => {
    const headers = [pair('Authorization', 'Bearer token')];
    const before = { url, headers, basicAuth: null };
    const variables = [own('A', 'monitor'), own('S', 'https')];
    const given = [own('A', 'evil.test/'), own('S', 'https')];
    for (const request of [undefined, maskRequest(before)]) {
      expect(keep(request, before, { variables, given }).problems).toContain('headers.0.value');
      expect(keep(request, before, { variables, given: [] }).problems).toContain('headers.0.value');
      expect(keep(request, before, { variables }).problems).toEqual([]);
    }
  });

  it('of a variable must send each credential again if it is in the Host header, not if it is in the path', () => {
    const change = { variables: [own('A', 'a')], given: [own('A', 'b')] };
    const { url, basicAuth } = STORED;
    const headers = [pair('Authorization', 'Bearer token'), pair('HOST', '{{A}}')];
    expect(keep(undefined, { url, basicAuth, headers }, change).problems).toHaveLength(3);
    expect(keep(undefined, { ...STORED, url: `${url}/{{{A}}}?{{A}}` }, change).problems).toEqual(
      [],
    );
  });

  it('with another Host header must send each credential again', () => {
    const headers = [...SHOWN.headers, pair('host', 'evil.test')];
    expect(keep({ ...SHOWN, headers }).problems).toContain('headers.0.value');
  });

  it('is refused for a mask in place of a value that is not stored', () => {
    const bare = { url: 'https://shop.test/', headers: [], basicAuth: null };
    expect(keep(SHOWN, bare).problems).toEqual(['url', 'basicAuth.password', 'headers.0.value']);
    expect(keep({ ...SHOWN, headers: [pair('X-API-Key', MASK)] }).problems).toEqual([
      'headers.0.value',
    ]);
    expect(keep({ ...SHOWN, headers: [pair('X-Plain', MASK)] }).problems).toEqual([
      'headers.0.value',
    ]);
    expect(maskProblems(SHOWN).map(({ path }) => path.join('.'))).toEqual([
      'url',
      'basicAuth.password',
      'headers.0.value',
    ]);
    expect(maskProblems(STORED)).toEqual([]);
  });

  it('keeps several headers of one name only if their number does not change', () => {
    const before = { url: 'https://a.test/', headers: [pair('Cookie', 'a'), pair('cookie', 'b')] };
    const given = (...values: readonly unknown[]) => ({
      url: 'https://a.test/',
      headers: values.map((value) => pair('Cookie', value)),
    });
    expect(keep(given(MASK, 'new'), before)).toEqual({ request: given('a', 'new'), problems: [] });
    expect(keep(given('new', MASK), before)).toEqual({ request: given('new', 'b'), problems: [] });
    expect(keep(given(MASK), before).problems).toEqual(['headers.0.value']);
    expect(keep(given(null, MASK), before).problems).toEqual(['headers.0.value']);
    expect(keep(given('new'), before)).toEqual({ request: given('new'), problems: [] });
  });

  it('may send templates to another target', () => {
    const before = {
      url: 'https://a.test/',
      headers: [pair('Authorization', 'Bearer {{TOKEN}}')],
      basicAuth: { username: 'a', password: '{{PASSWORD}}' },
    };
    const given = { url: 'https://b.test/' };
    expect(keep(given, before)).toEqual({ request: { ...before, ...given }, problems: [] });
  });

  it.each([null, 'text', 7, []])('with the request %j is left for the model to refuse', (given) => {
    expect(keep(given)).toEqual({ request: given, problems: [] });
  });

  it('keeps the mask that stands for an encrypted value', () => {
    expect(keep(SHOWN, SHOWN)).toEqual({ request: SHOWN, problems: [] });
    expect(keep({ ...SHOWN, url: 'https://evil.test/' }, SHOWN).problems).toHaveLength(2);
  });
});

describe('the variables of a target', () => {
  const target = targetOf({ url: 'https://{{HOST}}/{{PATH}}' });
  const same = (
    before: readonly ReturnType<typeof own>[],
    after: unknown,
    kept: readonly string[] | null = [],
  ) =>
    targetChange(
      { target, variables: before },
      { target, variables: after },
      kept === null ? null : new Set(kept),
    ) === null;

  it('are those of its host, not those of the path', () => {
    expect(target.names).toEqual(['HOST']);
    expect(same([own('HOST', 'a')], [own('HOST', 'a')])).toBe(true);
    expect(same([own('HOST', 'a')], [own('HOST', 'b')])).toBe(false);
    expect(same([own('HOST', 'a')], [])).toBe(false);
    expect(same([], [own('HOST', 'a')])).toBe(false);
    expect(same([own('PATH', 'a')], [own('PATH', 'b')])).toBe(true);
    expect(same([], 'no list')).toBe(true);
  });

  it('are unchanged if a secret one is kept', () => {
    const secret = [own('HOST', '', true)];
    expect(same(secret, secret, ['HOST'])).toBe(true);
    expect(same(secret, secret, null)).toBe(true);
    expect(same(secret, [own('HOST', 'b', true)], [])).toBe(false);
    expect(same([own('HOST', 'a')], [own('HOST', 'a', true)], [])).toBe(false);
  });

  it('are those of the whole URL if one of them may be its beginning', () => {
    expect(targetOf({ url: '{{BASE}}/{{PATH}}' }).names).toEqual(['BASE', 'PATH']);
    expect(targetOf({ url: '{{BASE}}/a' })).not.toEqual(targetOf({ url: '{{BASE}}/b' }));
    expect(targetOf({ url: 'https://{{HOST}}/a' })).toEqual(
      targetOf({ url: 'https://{{HOST}}/b' }),
    );
  });
});

describe('the proxy of a location', () => {
  const PROXY = 'http://user:pw@proxy.test:3128';

  it('is shown without its password', () => {
    expect(maskProxyUrl(PROXY)).toBe(`http://user:${MASK}@proxy.test:3128`);
    expect(maskProxyUrl('http://proxy.test:3128')).toBe('http://proxy.test:3128');
    expect(maskProxyUrl('http://token@proxy.test')).toBe(`http://${MASK}@proxy.test`);
    expect(maskProxyUrl('http://user:{{PW}}@proxy.test')).toBe(`http://user:${MASK}@proxy.test`);
  });

  it.each([
    [`http://user:${MASK}@proxy.test:3128`, PROXY],
    [`http://other:${MASK}@PROXY.test:3128/`, 'http://other:pw@PROXY.test:3128/'],
    ['http://user:new@other.test', 'http://user:new@other.test'],
    ['http://proxy.test:3128', 'http://proxy.test:3128'],
    [null, null],
    [7, 7],
  ])('given as %j is %j', (given, proxyUrl) => {
    expect(withRetainedSecret(given, PROXY)).toEqual({ proxyUrl, problem: null });
  });

  it.each([
    [`http://user:${MASK}@evil.test:3128`, PROXY, 'its password again'],
    [`http://user:${MASK}@proxy.test:3129`, PROXY, 'its password again'],
    [`https://user:${MASK}@proxy.test:3128`, PROXY, 'its password again'],
    [`http://${MASK}@evil.test:3128`, 'http://token@proxy.test:3128', 'its user again'],
    [`http://${MASK}@proxy.test:3128`, PROXY, 'none is stored'],
    [`http://user:${MASK}@proxy.test:3128`, 'http://token@proxy.test:3128', 'none is stored'],
    [`http://${MASK}:pw@proxy.test:3128`, 'http://token@proxy.test:3128', 'beside a password'],
    [`http://user:${MASK}@proxy.test:3128`, 'http://proxy.test:3128', 'none is stored'],
    [`http://user:${MASK}@proxy.test:3128`, null, 'none is stored'],
  ])('given as %j after %j is refused', (given, before, problem) => {
    expect(withRetainedSecret(given, before).problem).toContain(problem);
  });
});

describe('a URL as it may be shown', () => {
  it.each([
    ['http://u:hunter2@h/p?q#f', 'http://********@h/p?q#f'],
    ['http://hunter2@h/', 'http://********@h/'],
    ['http://u:a@hunter2@h/', 'http://********@h/'],
    ['http:\\\\u:hunter2@h/', 'http:\\\\********@h/'],
    ['http:/u:hunter2@h/', 'http:/********@h/'],
    ['ht\ntp://u:hunter2@h/', 'ht\ntp://********@h/'],
    ['{{SCHEME}}://u:hunter2@h/', '{{SCHEME}}://********@h/'],
    ['{{BASE}}u:hunter2@h/', '{{BASE}}********@h/'],
    ['{{BASE}}/users/me@home', '{{BASE}}/users/me@home'],
    ['http://h/users/me@home', 'http://h/users/me@home'],
    ['http://h/?u:p@x', 'http://h/?u:p@x'],
  ])('has no user and no password: %s', (url, shown) => {
    expect(maskUserinfo(url)).toBe(shown);
  });
});
