import { describe, expect, it } from 'vitest';
import { loadServiceConfig, SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import { DEFAULT_ARTIFACT_LIMITS } from '../../../src/service/object-store/artifacts-config.ts';
import { NO_OUTGOING } from '../../../src/service/outgoing/outgoing-config.ts';

const FIRST_KEY = `vk_${'0f'.repeat(16)}`;

describe('the configuration of the service', () => {
  it('needs nothing', () => {
    expect(loadServiceConfig({ HOME: '/root', PATH: '/bin', HOST: ' ', POST: 'x' })).toEqual({
      port: 8080,
      host: null,
      databaseUrl: null,
      databaseDirectUrl: null,
      dataDir: null,
      poolSize: 10,
      statementTimeoutMs: 30_000,
      logLevel: 'info',
      shutdownGraceMs: 30_000,
      rateLimitPerMinute: 600,
      leaseMs: 15_000,
      allowSubMinute: false,
      agentLimits: { perLocation: 100, concurrency: 1_000 },
      retentionDays: 30,
      rollUpRetentionDays: 400,
      firstApiKey: null,
      encryptionKeys: null,
      publicUrl: null,
      serviceHosts: [],
      customDomains: null,
      plansFile: null,
      staticIpv6s: [],
      artifacts: { s3: null, limits: DEFAULT_ARTIFACT_LIMITS },
      delivery: { ...NO_OUTGOING, deny: expect.any(Array) },
      rootCause: { model: null },
      sessions: { idleMs: 259_200_000, maxMs: 2_592_000_000 },
      subscribeLimits: { perAccountDay: 2_000, perHour: 2_000 },
      ownHeartbeat: null,
      auditRetentionDays: 365,
      oidc: null,
      corsOrigins: [],
      trustedProxies: [],
    });
  });

  it('takes every variable', () => {
    expect(
      loadServiceConfig({
        PORT: '0',
        HOST: '::1',
        DATABASE_URL: 'postgres://u:p@db/vedette',
        DATA_DIR: '/data',
        DATABASE_POOL_SIZE: '25',
        DATABASE_TIMEOUT_SECONDS: '5',
        LOG_LEVEL: 'DEBUG',
        SHUTDOWN_GRACE_SECONDS: '0',
        RATE_LIMIT_PER_MINUTE: '1000',
        TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7',
        CORS_ORIGINS: 'https://Tools.example.org/ http://localhost:3000',
        LEASE_SECONDS: '3',
        MAX_AGENTS_PER_LOCATION: '7',
        MAX_AGENT_CONCURRENCY: '100000',
        RETENTION_DAYS: '400',
        ROLLUP_RETENTION_DAYS: '800',
        FIRST_API_KEY: FIRST_KEY,
        ENCRYPTION_KEY: `${'0a'.repeat(32)}, ${'FF'.repeat(32)}`,
        PUBLIC_URL: 'HTTPS://Vedette.example.org/in/',
        SERVICE_HOSTS: 'Monitoring.example.org, vedette',
        CUSTOM_DOMAINS: 'Example.org, status.example.net',
        PLANS_FILE: '/etc/plans.yaml',
        STATIC_IPV6S: '2001:db8::/32 2001:db8::7',
        SESSION_IDLE_HOURS: '1',
        SESSION_MAX_DAYS: '1',
        AUDIT_RETENTION_DAYS: '90',
        OIDC_ISSUER: 'https://login.example.org/realms/main',
        OIDC_CLIENT_ID: 'vedette',
        OIDC_CLIENT_SECRET: 'secret',
        OIDC_ROLE_MAP: 'ops team=admin, *=read',
        OIDC_GROUPS_CLAIM: 'roles',
        OIDC_SCOPES: 'openid email groups',
        OIDC_ACCOUNT: 'a',
        OIDC_SESSION_MAX_HOURS: '8',
        SUBSCRIBE_LIMIT_PER_ACCOUNT_DAY: '100',
        SUBSCRIBE_LIMIT_PER_HOUR: '200',
        HEARTBEAT_URL: 'https://watch.example.org/ping/token',
        HEARTBEAT_METHOD: 'post',
        ALLOW_SUBMINUTE: 'on',
      }),
    ).toEqual({
      port: 0,
      host: '::1',
      databaseUrl: 'postgres://u:p@db/vedette',
      databaseDirectUrl: null,
      dataDir: '/data',
      poolSize: 25,
      statementTimeoutMs: 5_000,
      logLevel: 'debug',
      shutdownGraceMs: 0,
      rateLimitPerMinute: 1000,
      leaseMs: 3_000,
      allowSubMinute: true,
      agentLimits: { perLocation: 7, concurrency: 100_000 },
      retentionDays: 400,
      rollUpRetentionDays: 800,
      firstApiKey: FIRST_KEY,
      encryptionKeys: [Buffer.alloc(32, 0x0a), Buffer.alloc(32, 0xff)],
      publicUrl: 'https://vedette.example.org/in',
      serviceHosts: ['monitoring.example.org', 'vedette'],
      customDomains: ['example.org', 'status.example.net'],
      plansFile: '/etc/plans.yaml',
      staticIpv6s: ['2001:db8::/32', '2001:db8::7'],
      artifacts: { s3: null, limits: DEFAULT_ARTIFACT_LIMITS },
      delivery: { ...NO_OUTGOING, deny: expect.any(Array) },
      rootCause: { model: null },
      sessions: { idleMs: 3_600_000, maxMs: 86_400_000 },
      auditRetentionDays: 90,
      subscribeLimits: { perAccountDay: 100, perHour: 200 },
      ownHeartbeat: { url: 'https://watch.example.org/ping/token', method: 'POST' },
      oidc: {
        issuer: 'https://login.example.org/realms/main',
        clientId: 'vedette',
        clientSecret: 'secret',
        groupsClaim: 'roles',
        scopes: 'openid email groups',
        groupRoles: [
          { group: 'ops team', role: 'admin' },
          { group: '*', role: 'read' },
        ],
        accountId: 'a',
        sessionMaxMs: 28_800_000,
      },
      corsOrigins: ['https://tools.example.org', 'http://localhost:3000'],
      trustedProxies: ['10.0.0.0/8', '192.0.2.7'],
    });
  });

  it.each([
    ['PORT', '65536', 'PORT is "65536"; it must be a whole number from 0 to 65535'],
    [
      'HOST',
      'localhost',
      'HOST is "localhost"; it must be an IP address, for example 127.0.0.1 or ::',
    ],
    ['DATABASE_POOL_SIZE', '0', 'it must be a whole number from 1 to 1000'],
    ['SHUTDOWN_GRACE_SECONDS', '-1', 'SHUTDOWN_GRACE_SECONDS is "-1"'],
    ['TRUSTED_PROXIES', '10.0.0.0/8 10.0.0.0/33', 'TRUSTED_PROXIES contains "10.0.0.0/33"'],
    ['CORS_ORIGINS', '*', 'CORS_ORIGINS is "*"; it must be a list of at most 100 origins without'],
    ['CORS_ORIGINS', 'https://*.example.org', 'CORS_ORIGINS is "https://*.example.org"'],
    [
      'CORS_ORIGINS',
      'https://a.test https://b.test/app',
      'CORS_ORIGINS contains "https://b.test/app"',
    ],
    ['LOG_LEVEL', 'loud\nline', 'LOG_LEVEL is "loud\\nline"'],
    ['PUBLIC_URL', 'vedette.example.org', 'it must be a URL of http or https without user'],
    [
      'PUBLIC_URL',
      'https://u:hunter2@x.test/?a=1',
      'PUBLIC_URL contains "https://********@x.test/?…"',
    ],
    ['PUBLIC_URL', 'u:hunter2@x.test', 'PUBLIC_URL contains "********@x.test"'],
    ['SERVICE_HOSTS', 'a.test https://b.test', 'SERVICE_HOSTS contains "https://b.test"'],
    ['CUSTOM_DOMAINS', '*.a.test', 'CUSTOM_DOMAINS is "*.a.test"; it must be a list'],
    ['SERVICE_HOSTS', 'a.test:443', 'at most 100 host names without port'],
    ['LEASE_SECONDS', '2', 'it must be a whole number of seconds from 3 to 3600'],
    ['MAX_AGENTS_PER_LOCATION', '1001', 'it must be a whole number from 1 to 1000'],
    ['MAX_AGENT_CONCURRENCY', '0', 'it must be a whole number from 1 to 100000'],
    ['FIRST_API_KEY', 'hunter2', 'FIRST_API_KEY is malformed; it must be vk_ and 32 hex digits'],
    ['HEARTBEAT_URL', 'https://u:hunter2@x.test/', 'HEARTBEAT_URL is malformed'],
    ['HEARTBEAT_URL', 'https://:hunter2@x.test/', 'HEARTBEAT_URL is malformed'],
    ['HEARTBEAT_METHOD', 'GET', 'set HEARTBEAT_URL, or unset HEARTBEAT_METHOD'],
    ['DATABSE_URL', 'postgres://u:hunter2@db/v', 'did you mean DATABASE_URL?'],
  ])('refuses %s=%s with one line that says what is allowed', (name, value, text) => {
    let message = '';
    try {
      loadServiceConfig({ [name]: value });
    } catch (error) {
      message = error instanceof Error ? error.message : '';
    }
    expect(message).toContain(text);
    expect(message).not.toMatch(/\n|hunter2/);
  });

  it('reads proxies in lower case, and does not treat similar names as typos', () => {
    const { delivery } = loadServiceConfig({
      http_proxy: 'http://proxy.test:3128',
      FTP_PROXY: 'ftp.test',
      GOPROXY: 'https://go.test',
    });
    expect(delivery.proxies).toMatchObject({ https: null, http: { hostname: 'proxy.test' } });
  });

  it('marks what is secret', () => {
    expect(SERVICE_ENVIRONMENT.filter(({ secret }) => secret).map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'DATABASE_DIRECT_URL',
      'FIRST_API_KEY',
      'ENCRYPTION_KEY',
      'OIDC_CLIENT_SECRET',
      'RCA_API_KEY',
      'S3_SECRET_ACCESS_KEY',
      'SMTP_URL',
      'SMS_GATEWAY_URL',
      'SMS_GATEWAY_AUTHORIZATION',
      'HEARTBEAT_URL',
    ]);
  });
});
