import { describe, expect, it } from 'vitest';
import { readOidcConfig } from '../../../../src/service/oidc/oidc-config.ts';

const PUBLIC_URL = 'https://vedette.example.org';
const ENV = {
  OIDC_ISSUER: 'https://login.example.org/',
  OIDC_CLIENT_ID: 'vedette',
  OIDC_CLIENT_SECRET: 'hunter2',
  OIDC_ROLE_MAP: 'ops=admin',
};

describe('the configuration of OpenID Connect', () => {
  it('is none where nothing is set', () => {
    expect(readOidcConfig({}, null)).toBeNull();
  });

  it('leaves the issuer as it is written, since providers compare it as a text', () => {
    expect(readOidcConfig(ENV, PUBLIC_URL)?.issuer).toBe('https://login.example.org/');
  });

  it('takes groups with spaces and equals signs', () => {
    const env = { ...ENV, OIDC_ROLE_MAP: 'ops team = admin, cn=dev=write,*=read' };
    expect(readOidcConfig(env, PUBLIC_URL)?.groupRoles).toEqual([
      { group: 'ops team', role: 'admin' },
      { group: 'cn=dev', role: 'write' },
      { group: '*', role: 'read' },
    ]);
  });

  it.each([
    ['OIDC_ISSUER', 'http://login.example.org', 'it must be an https URL'],
    ['OIDC_ROLE_MAP', 'ops=owner', 'OIDC_ROLE_MAP is "ops=owner"; it must be a list'],
    ['OIDC_ROLE_MAP', 'ops', 'it must be a list'],
    ['OIDC_SCOPES', 'email', 'openid among them'],
    ['OIDC_SESSION_MAX_HOURS', '0', 'it must be a whole number of hours from 1 to 8760'],
  ])('refuses %s=%s', (name, value, text) => {
    expect(() => readOidcConfig({ ...ENV, [name]: value }, PUBLIC_URL)).toThrow(text);
  });

  it.each(['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLE_MAP'])(
    'names %s where it is missing',
    (name) => {
      expect(() => readOidcConfig({ ...ENV, [name]: '' }, PUBLIC_URL)).toThrow(
        `OIDC_ISSUER is set and ${name} is not`,
      );
    },
  );

  it('needs PUBLIC_URL, and an issuer for all others', () => {
    expect(() => readOidcConfig(ENV, null)).toThrow('OIDC_ISSUER is set and PUBLIC_URL is not');
    expect(() => readOidcConfig({ OIDC_CLIENT_ID: 'vedette' }, PUBLIC_URL)).toThrow(
      'OIDC_CLIENT_ID is set and OIDC_ISSUER is not',
    );
  });
});
