import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ENVIRONMENT,
  type Environment,
  loadConfig,
  loadRunConfig,
} from '../../../../src/agent/config/agent-config.ts';
import { NO_OPERATOR_VARIABLES } from '../../../../src/agent/config/operator-variables.ts';
import { secretsOfTargetsFrom } from '../../../../src/agent/config/targets-from.ts';
import { VARIABLES } from '../../../../src/agent/config/variables.ts';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const NEEDED = { CHECKS_FILE: 'checks.yaml' };
const NO_PROXIES = { https: null, http: null, exemptions: [] };
const FILE_WORK = { kind: 'file', checksFile: 'checks.yaml', discovery: null };
const KEY = `pl_${'0f'.repeat(16)}`;
const OTHER_KEY = `pl_${'1e'.repeat(16)}`;
const SERVICE = { SERVICE_URL: 'https://vedette.example.com/base', API_KEY: KEY };

function refusalOf(
  env: Environment,
  load: (env: Environment) => unknown = loadConfig,
): VedetteError {
  try {
    load(env);
  } catch (error) {
    if (error instanceof VedetteError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('loadConfig', () => {
  it('needs only CHECKS_FILE and has the documented defaults for the rest', () => {
    expect(loadConfig(NEEDED)).toEqual({
      work: FILE_WORK,
      concurrency: 100,
      healthPort: 8081,
      healthHost: null,
      metricTags: [],
      probeEndpoint: false,
      otlp: null,
      externalObservability: true,
      evidence: 'on',
      logLevel: 'info',
      extraRootsPem: null,
      shutdownGraceMs: 300_000,
      connectivityTargets: [],
      deniedNetworks: [],
      operatorVariables: NO_OPERATOR_VARIABLES,
      executeScripts: true,
      scriptWorkers: 2,
    });
  });

  it('reads every variable, with white space around it', () => {
    const config = loadConfig({
      CHECKS_FILE: ' /etc/checks.yaml ',
      TARGETS_FROM: 'shops=/etc/targets/*.json apis=http://sd.test/?a=b',
      JOB_CONCURRENCY: ' 1000',
      AGENT_HEALTH_PORT: '0',
      AGENT_HEALTH_HOST: '127.0.0.1',
      METRIC_TAGS: 'production, team:*',
      PROBE_ENDPOINT: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/prefix/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-tenant=a%2Cb',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production,service.name=other',
      OTEL_SERVICE_NAME: 'probes',
      OTEL_METRIC_EXPORT_INTERVAL: '10000',
      OTLP_TRACES: 'on',
      EXTERNAL_OBSERVABILITY: 'OFF',
      EVIDENCE: 'With-Secrets',
      LOG_LEVEL: 'Debug',
      SHUTDOWN_GRACE_SECONDS: '0',
      CONNECTIVITY_CHECK: '192.0.2.1:53, example.com:443 [2001:db8::1]:80',
      TARGET_DENY: '10.0.0.0/8,192.0.2.7  fd00::/8',
    });
    expect(config).toEqual({
      work: {
        kind: 'file',
        checksFile: '/etc/checks.yaml',
        discovery: {
          rules: [
            { checkId: 'shops', document: { kind: 'file', path: '/etc/targets/*.json' } },
            { checkId: 'apis', document: { kind: 'url', url: new URL('http://sd.test/?a=b') } },
          ],
          proxies: NO_PROXIES,
        },
      },
      concurrency: 1000,
      healthPort: 0,
      healthHost: '127.0.0.1',
      metricTags: ['production', 'team:*'],
      probeEndpoint: true,
      otlp: {
        endpoint: 'http://collector:4318/prefix',
        headers: { authorization: 'Bearer abc', 'x-tenant': 'a,b' },
        resource: { 'deployment.environment.name': 'production', 'service.name': 'probes' },
        metricIntervalMs: 10_000,
        traces: true,
        proxies: NO_PROXIES,
      },
      externalObservability: false,
      evidence: 'with-secrets',
      logLevel: 'debug',
      extraRootsPem: null,
      shutdownGraceMs: 0,
      connectivityTargets: [
        { hostname: '192.0.2.1', port: 53 },
        { hostname: 'example.com', port: 443 },
        { hostname: '2001:db8::1', port: 80 },
      ],
      deniedNetworks: [
        { text: '10.0.0.0/8', address: '10.0.0.0', prefixBits: 8 },
        { text: '192.0.2.7', address: '192.0.2.7', prefixBits: 32 },
        { text: 'fd00::/8', address: 'fd00::', prefixBits: 8 },
      ],
      operatorVariables: NO_OPERATOR_VARIABLES,
      executeScripts: true,
      scriptWorkers: 2,
    });
  });

  it('refuses traces without a receiver, and invalid headers, without showing them', () => {
    expect(refusalOf({ ...NEEDED, OTLP_TRACES: 'on' })).toMatchObject({ code: 'CONFIG_CONFLICT' });
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318';
    const names = ['a b', 'host', 'expect', 'upgrade', 'keep-alive'];
    for (const headers of ['secret-word', ...names.map((name) => `${name}=secret-word`)]) {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers };
      const { code, message } = refusalOf({ ...NEEDED, ...env });
      expect(code).toBe('CONFIG_INVALID');
      expect(message).not.toContain('secret-word');
    }
  });

  it('refuses invalid addresses of target documents, and all of them with a service', () => {
    const refused = ['shops', '=a.json', 'a=targets.txt', 'a=/x/*/t.json', 'a=http://u:p@sd.test/'];
    for (const TARGETS_FROM of refused) {
      expect(refusalOf({ ...NEEDED, TARGETS_FROM }).code).toBe('CONFIG_INVALID');
    }
    // Also where the check is missing, or a comma parts the URL.
    const slips = [
      'a=http://u:password@sd.test/',
      'http://sd.test/?t=password',
      'a=http://sd.test/?t=1,password',
    ];
    for (const TARGETS_FROM of slips) {
      expect(refusalOf({ ...NEEDED, TARGETS_FROM }).message).not.toContain('password');
    }
    const env = { SERVICE_URL: 'http://service.test', TARGETS_FROM: 'a=a.json' };
    expect(refusalOf(env).code).toBe('CONFIG_CONFLICT');
  });

  it('masks keys in queries of addresses of targets, and no words', () => {
    const query = 'token=0123456789%2Babcdef&team=shop';
    const document = { kind: 'url', url: new URL(`http://sd.test/?${query}`) } as const;
    const secrets = secretsOfTargetsFrom([{ checkId: 'a', document }]);
    expect(secrets).toEqual(['0123456789%2Babcdef', '0123456789+abcdef']);
  });

  it('takes an empty value for an unset one', () => {
    const config = loadConfig({ ...NEEDED, JOB_CONCURRENCY: '', TARGET_DENY: ' ', API_KEY: '' });
    expect(config.concurrency).toBe(100);
    expect(config.deniedNetworks).toEqual([]);
    expect(refusalOf({ CHECKS_FILE: '' }).code).toBe('CONFIG_MISSING');
  });

  it('names what is needed if nothing is set', () => {
    const { kind, code, message } = refusalOf({});
    expect({ kind, code }).toEqual({ kind: 'config', code: 'CONFIG_MISSING' });
    expect(message).toMatch(
      /^neither SERVICE_URL nor CHECKS_FILE is set: set SERVICE_URL and API_KEY .+ or CHECKS_FILE to the path of a check file/,
    );
  });

  it.each([
    ['JOB_CONCURRENCY', '0'],
    ['JOB_CONCURRENCY', '1001'],
    ['JOB_CONCURRENCY', '-5'],
    ['JOB_CONCURRENCY', '1e2'],
    ['JOB_CONCURRENCY', '0x10'],
    ['JOB_CONCURRENCY', '10.5'],
    ['JOB_CONCURRENCY', 'many'],
    ['AGENT_HEALTH_PORT', '65536'],
    ['AGENT_HEALTH_HOST', 'localhost'],
    ['AGENT_HEALTH_PORT', 'tcp://10.0.0.1:8081'],
    ['METRIC_TAGS', 'te*m'],
    ['EXTERNAL_OBSERVABILITY', 'true'],
    ['LOG_LEVEL', 'verbose'],
    ['SHUTDOWN_GRACE_SECONDS', '-1'],
    ['SHUTDOWN_GRACE_SECONDS', '99999999999'],
    ['CONNECTIVITY_CHECK', 'example.com'],
    ['CONNECTIVITY_CHECK', 'example.com:0'],
    ['CONNECTIVITY_CHECK', 'example.com:65536'],
    ['CONNECTIVITY_CHECK', '2001:db8::1:80'],
    ['CONNECTIVITY_CHECK', '[example.com]:80'],
    ['CONNECTIVITY_CHECK', 'http://example.com:80'],
    ['CONNECTIVITY_CHECK', '10.0.0.256:80'],
    ['CONNECTIVITY_CHECK', ','],
    ['TARGET_DENY', '10.0.0.0/33'],
    ['TARGET_DENY', '10.0.0.0/'],
    ['TARGET_DENY', '10.0.0.0/8/8'],
    ['TARGET_DENY', 'fd00::/129'],
    ['TARGET_DENY', 'fe80::1%eth0'],
    ['TARGET_DENY', 'example.com'],
  ])('refuses %s=%s in one line that names it, the value and what is allowed', (name, value) => {
    const { kind, code, message } = refusalOf({ ...NEEDED, [name]: value });
    expect({ kind, code }).toEqual({ kind: 'config', code: 'CONFIG_INVALID' });
    const row = ENVIRONMENT.find((each) => each.name === name);
    expect(message).toBe(`${name} is "${value}"; it must be ${row?.allowed}`);
  });

  it('names the invalid entry of a list', () => {
    const { message } = refusalOf({ ...NEEDED, TARGET_DENY: '10.0.0.0/8, 10.0.0.0/40' });
    expect(message).toMatch(/^TARGET_DENY contains "10\.0\.0\.0\/40"; it must be a list of/);
  });

  it('refuses lists that are too long', () => {
    const targets = Array.from({ length: 17 }, (_, index) => `192.0.2.${index}:80`).join(',');
    expect(refusalOf({ ...NEEDED, CONNECTIVITY_CHECK: targets }).message).toContain('at most 16');
  });

  it('fails with one short line whatever the value contains', () => {
    const { message } = refusalOf({ ...NEEDED, LOG_LEVEL: `in\nfo${'x'.repeat(10_000)}` });
    expect(message).not.toContain('\n');
    expect(message.length).toBeLessThan(300);
  });

  it.each(['API_KEY', 'API_KEY_FILE'])(
    'refuses %s beside CHECKS_FILE, where nobody would read it, without showing its value',
    (name) => {
      const { code, message } = refusalOf({ ...NEEDED, [name]: KEY });
      expect(code).toBe('CONFIG_CONFLICT');
      expect(message).toMatch(new RegExp(`^${name} is set, which is for an agent of a service`));
      expect(message).not.toContain(KEY);
    },
  );
});

it('ignores DATA_DIR beside CHECKS_FILE, as the image sets it', () => {
  expect(loadConfig({ ...NEEDED, DATA_DIR: '/data' })).toEqual(loadConfig(NEEDED));
});

describe('loadConfig for a service', () => {
  it('reads address, key and folder', () => {
    const { work } = loadConfig({
      ...SERVICE,
      DATA_DIR: '/data',
      SPOOL_MAX_MIB: '64',
      SPOOL_MAX_DAYS: '1',
      ARTIFACT_ORIGINS:
        'https://b.s3.eu-central-1.amazonaws.com, HTTP://Store:80/ http://[::1]:9000',
    });
    expect(work).toMatchObject({
      kind: 'service',
      serviceUrl: new URL('https://vedette.example.com/base'),
      key: { current: KEY },
      dataDir: '/data',
      spoolMaxBytes: 64 * 1024 * 1024,
      spoolMaxAgeMs: 86_400_000,
      artifactOrigins: [
        'https://b.s3.eu-central-1.amazonaws.com',
        'http://store',
        'http://[::1]:9000',
      ],
    });
  });

  it('uses the documented defaults without DATA_DIR', () => {
    expect(loadConfig(SERVICE).work).toMatchObject({
      dataDir: null,
      spoolMaxBytes: 512 * 1024 * 1024,
      spoolMaxAgeMs: 7 * 86_400_000,
      artifactOrigins: [],
    });
  });

  it.each([
    ['bucket.s3.amazonaws.com', 'is "bucket.s3.amazonaws.com"'],
    ['https://store.example/bucket', 'is "https://store.example/bucket"'],
    ['https://a.example https://*.s3.amazonaws.com', 'contains "https://*.s3.amazonaws.com"'],
    ['ftp://store.example', 'is "ftp://store.example"'],
    ['*', 'is "*"'],
    ['https://ann:secret@store.example', 'contains "https://********@store.example"'],
    ['https://store.example?X-Amz-Signature=secret', 'contains "https://store.example?…"'],
  ])('refuses ARTIFACT_ORIGINS=%s in one line without a secret', (value, found) => {
    const { code, message } = refusalOf({ ...SERVICE, ARTIFACT_ORIGINS: value });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toBe(
      `ARTIFACT_ORIGINS ${found}; it must be ${ENVIRONMENT.find(({ name }) => name === 'ARTIFACT_ORIGINS')?.allowed}`,
    );
  });

  it.each([
    [{ CHECKS_FILE: 'x.yaml' }, 'CONFIG_CONFLICT', /^SERVICE_URL and CHECKS_FILE are both set/],
    [
      { PROBE_ENDPOINT: 'on' },
      'CONFIG_CONFLICT',
      /^PROBE_ENDPOINT is on, which is for an agent of/,
    ],
    [{ API_KEY: '' }, 'CONFIG_MISSING', /^SERVICE_URL is set, but neither API_KEY nor API_KEY_FI/],
    [{ API_KEY_FILE: '/k' }, 'CONFIG_CONFLICT', /^API_KEY and API_KEY_FILE are both set/],
    [{ API_KEY: 'vk_1' }, 'CONFIG_INVALID', /^API_KEY is malformed; it must be the key of a priv/],
    [{ SERVICE_URL: 'host:80' }, 'CONFIG_INVALID', /^SERVICE_URL is "host:80"; it must be an http/],
    [{ SERVICE_URL: 'https://u:p@h' }, 'CONFIG_INVALID', /^SERVICE_URL contains "https:\/\/\*+@h"/],
    [{ SERVICE_URL: 'https://h/?a' }, 'CONFIG_INVALID', /^SERVICE_URL is/],
  ])('refuses %j', (env, code, sentence) => {
    const refusal = refusalOf({ ...SERVICE, ...env });
    expect(refusal.code).toBe(code);
    expect(refusal.message).toMatch(sentence);
    expect(refusal.message).not.toContain('\n');
  });
});

describe('API_KEY_FILE', () => {
  const folder = makeTempFolder();
  afterAll(() => folder.remove());
  const file = join(folder.path, 'key');
  const env = { SERVICE_URL: 'http://127.0.0.1:1', API_KEY_FILE: file };

  it('returns the key, and a new one when the file changes', async () => {
    writeFileSync(file, `${KEY}\n`);
    const { work } = loadConfig(env);
    if (work.kind !== 'service') throw new Error('it is for a service');
    expect(work.key.current).toBe(KEY);
    expect(await work.key.refresh()).toBe('same');
    writeFileSync(file, OTHER_KEY);
    expect(await work.key.refresh()).toBe('changed');
    expect(work.key.current).toBe(OTHER_KEY);
    // Half written, or gone for now: the key that there was may still be good.
    writeFileSync(file, 'pl_');
    expect(await work.key.refresh()).toBe('unusable');
    rmSync(file);
    expect(await work.key.refresh()).toBe('unusable');
    expect(work.key.current).toBe(OTHER_KEY);
  });

  it.each([
    ['does not exist', () => rmSync(file, { force: true })],
    ['contains no key of a private location', () => writeFileSync(file, 'vk_1')],
    ['is too large for a key', () => writeFileSync(file, KEY.repeat(1000))],
  ])('is refused where it %s', (problem, make) => {
    make();
    const { code, message } = refusalOf(env);
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(`API_KEY_FILE is "${file}", which ${problem}; it must be the path`);
  });
});

describe('a variable that is nearly one of ours', () => {
  it.each([
    ['JOB_CONCURENCY', 'JOB_CONCURRENCY'],
    ['CHECK_FILE', 'CHECKS_FILE'],
    ['CHEK_FILE', 'CHECKS_FILE'],
    ['AGENT_HEALTHPORT', 'AGENT_HEALTH_PORT'],
    ['TARGETS_DENY', 'TARGET_DENY'],
    ['job_concurrency', 'JOB_CONCURRENCY'],
  ])('%s stops the start with the suggestion %s', (name, meant) => {
    const { kind, code, message } = refusalOf({ ...NEEDED, [name]: '1' });
    expect({ kind, code }).toEqual({ kind: 'config', code: 'CONFIG_UNKNOWN' });
    expect(message).toContain(`"${name}" is not a variable of Vedette; did you mean ${meant}?`);
  });

  it.each([
    'PATH',
    'HOME',
    'TARGET_ENV',
    'TARGET_DNS',
    'APP_KEY',
    'HTTPS_PROXY',
    'NODE_OPTIONS',
    'DB_LOG_LEVEL',
    'JOB_NAME',
  ])('%s is not a variable of ours and is ignored', (name) => {
    expect(loadConfig({ ...NEEDED, [name]: 'x' }).work).toEqual(FILE_WORK);
  });

  it('is refused only where the command reads the variable that was meant', () => {
    expect(refusalOf({ TARGETS_DENY: '10.0.0.0/8' }, loadRunConfig).code).toBe('CONFIG_UNKNOWN');
    expect(loadRunConfig({ AGENT_HEALTHPORT: '1' }).concurrency).toBe(100);
  });

  it('is ignored where it is empty', () => {
    expect(loadConfig({ ...NEEDED, CHECK_FILE: '' }).work).toEqual(FILE_WORK);
  });
});

describe('the proxies of the agent', () => {
  function proxiesOf(env: Environment) {
    const { work } = loadConfig({ ...SERVICE, ...env });
    if (work.kind !== 'service') throw new Error('not for a service');
    return work.proxies;
  }

  it('are none where no variable is set', () => {
    expect(proxiesOf({})).toEqual({ https: null, http: null, exemptions: [] });
  });

  it('are read in either case, and lower case wins', () => {
    const { https, http, exemptions } = proxiesOf({
      HTTPS_PROXY: 'http://upper.test:1',
      https_proxy: 'http://lower.test:2',
      HTTP_PROXY: 'upper.test:3',
      no_proxy: 'a.test, .b.test 10.0.0.0/8',
    });
    expect([https?.shown, http?.shown]).toEqual(['http://lower.test:2', 'http://upper.test:3']);
    expect(exemptions).toHaveLength(3);
  });

  it.each([
    ['HTTPS_PROXY', 'socks5://ann:s3cret@proxy.test:1080', 'socks5://********@proxy.test:1080'],
    ['http_proxy', 'http://ann:s3/cret@proxy.test:3128', 'http://********@proxy.test:3128'],
    ['HTTP_PROXY', 'ann:s3cret@proxy.test:x', '********@proxy.test:x'],
    ['NO_PROXY', 'a.test, 10.0.*', '10.0.*'],
  ])('%s stops the start in one line without the credentials', (name, value, shown) => {
    const { code, message } = refusalOf({ ...SERVICE, [name]: value });
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(new RegExp(`^${name} (is|contains) "`));
    expect(message).toContain(JSON.stringify(shown));
    expect(message).not.toMatch(/s3|\n/);
  });

  it('do not make names of other programs look like typos', () => {
    const env = { FTP_PROXY: 'x', WS_PROXY: 'x', GOPROXY: 'direct', https_proxy: 'p.test:1' };
    expect(proxiesOf(env).https?.hostname).toBe('p.test');
  });

  it('are ignored without a service', () => {
    expect(loadConfig({ ...NEEDED, HTTPS_PROXY: 'nonsense:', NO_PROXY: '/' }).work).toEqual(
      FILE_WORK,
    );
  });
});

describe('loadRunConfig', () => {
  it('needs nothing, and ignores what only the daemon reads', () => {
    const env = { API_KEY: 'of another program', AGENT_HEALTH_PORT: 'off', JOB_CONCURRENCY: '7' };
    expect(loadRunConfig(env)).toEqual({
      concurrency: 7,
      logLevel: 'info',
      extraRootsPem: null,
      connectivityTargets: [],
      deniedNetworks: [],
      operatorVariables: NO_OPERATOR_VARIABLES,
      executeScripts: true,
      scriptWorkers: 2,
    });
  });

  it('refuses an invalid variable that it reads', () => {
    expect(refusalOf({ TARGET_DENY: 'all' }, loadRunConfig).code).toBe('CONFIG_INVALID');
  });
});

describe('the table of variables', () => {
  it.each(Object.values(VARIABLES).filter((row) => row.default !== null))(
    'has a default for $name that reads as what is used',
    ({ default: text, parse, whenUnset }) => {
      expect(parse(text ?? '')).toEqual({ ok: true, value: whenUnset });
    },
  );
});
