import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ENVIRONMENT, loadConfig } from '../../../src/agent/config/agent-config.ts';
import { loadServiceConfig, SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import {
  type ComposeService,
  composeFile,
  composeService,
  mountOf,
} from '../../support/compose/compose-file.ts';
import { DOCKER, scrapeJobs } from '../../support/compose/prometheus-files.ts';
import { documentedCommands } from '../../support/compose/readme-commands.ts';
import { DATABASE } from '../../support/compose/scripts.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const file = composeFile();
const services = Object.entries(file.services);
const AGENT = { image: 'vedette-agent', rows: ENVIRONMENT };
const SERVICE = { image: 'vedette', rows: SERVICE_ENVIRONMENT };
const isAgent = ({ image }: ComposeService): boolean => image === AGENT.image;
const isOwn = ({ image }: ComposeService): boolean =>
  isAgent({ image } as ComposeService) || image === SERVICE.image;
const isOnce = ({ restart }: ComposeService): boolean => restart === 'no';
const own = services.filter(([, service]) => isOwn(service));
const lasting = services.filter(([, service]) => !isOnce(service));
const names = Object.keys(file.services);
const dockerfile = (name: string): string =>
  readFileSync(join(DOCKER, `${name}.Dockerfile`), 'utf8');
const exposed = (name: string): string | undefined => /^EXPOSE (\d+)$/m.exec(dockerfile(name))?.[1];

const readmeCommands = [...documentedCommands()].filter(([name]) => name.startsWith('compose-'));
const prepared = readFileSync(join(DOCKER, 'compose/prepare.mjs'), 'utf8');

/** Keys of a service in the Compose specification, as far as they are used here. */
const KNOWN_KEYS = [
  'build',
  'cap_add',
  'cap_drop',
  'command',
  'depends_on',
  'deploy',
  'entrypoint',
  'environment',
  'healthcheck',
  'image',
  'logging',
  'network_mode',
  'networks',
  'pids_limit',
  'ports',
  'pull_policy',
  'read_only',
  'restart',
  'security_opt',
  'shm_size',
  'stop_grace_period',
  'sysctls',
  'tmpfs',
  'user',
  'volumes',
  'working_dir',
];
const CONDITIONS: Readonly<Record<string, (service: ComposeService) => boolean>> = {
  service_healthy: ({ healthcheck }) => healthcheck !== undefined,
  service_completed_successfully: isOnce,
};

describe('compose.yaml', () => {
  it.each(services)('has for %s what the Compose specification knows', (_, service) => {
    expect(Object.keys(service).filter((key) => !KNOWN_KEYS.includes(key))).toEqual([]);
    for (const [name, value] of Object.entries(service.environment ?? {})) {
      expect(typeof value, name).toBe('string');
    }
    const checked = service.healthcheck?.test ?? ['CMD'];
    expect(checked[0]).toBe('CMD');
    for (const word of [...checked, ...(service.command ?? []), ...(service.entrypoint ?? [])]) {
      expect(typeof word, String(word)).toBe('string');
    }
  });

  it.each(services)(
    'mounts for %s only files that exist',
    (_, { build, volumes = [], tmpfs = [] }) => {
      const mounts = volumes.map(mountOf);
      for (const { source, target, options } of mounts) {
        if (!source.startsWith('.')) expect(file.volumes).toHaveProperty(source);
        else {
          expect(existsSync(join(DOCKER, source)), source).toBe(true);
          expect(options, source).toContain('ro');
        }
        expect(target).toMatch(/^\//);
      }
      const targets = [
        ...mounts.map(({ target }) => target),
        ...tmpfs.map((one) => mountOf(one).source),
      ];
      expect(new Set(targets).size).toBe(targets.length);
      if (build === undefined) return;
      expect(existsSync(join(DOCKER, build.context, build.dockerfile))).toBe(true);
      expect(existsSync(join(DOCKER, build.context, 'package.json'))).toBe(true);
    },
  );

  it('uses every volume and network that it names, and no other', () => {
    const used = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((one) => mountOf(one).source),
    );
    expect(Object.keys(file.volumes).filter((name) => !used.includes(name))).toEqual([]);
    const joined = services.flatMap(([, { networks = [] }]) => networks);
    expect(new Set(joined)).toEqual(new Set(Object.keys(file.networks)));
  });

  it.each(services)('starts %s after what it needs', (_, { depends_on: needs = {} }) => {
    for (const [name, { condition }] of Object.entries(needs)) {
      expect(CONDITIONS[condition]?.(composeService(name)), `${name}: ${condition}`).toBe(true);
    }
  });

  it.each(services)('gives %s no more than it needs', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.cap_add).toBeUndefined();
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(lasting)('keeps %s going, watched and bounded', (_, service) => {
    expect(service.restart).toBe('unless-stopped');
    expect(service.healthcheck).toBeDefined();
    expect(service.deploy?.resources.limits).toMatchObject({
      cpus: expect.stringMatching(/^\d/),
      memory: expect.stringMatching(/^\d+[MG]$/),
    });
  });

  it('pins the images of others by a version, and builds its own', () => {
    for (const [name, { image }] of services.filter(([, service]) => !isOwn(service))) {
      expect(image, name).toMatch(/^[a-z.]+\/[a-z/]+:v?\d+\.\d+(?:\.\d+)?$/);
    }
    const built = own.filter(([, { build }]) => build !== undefined);
    expect(built.map(([, { image, build }]) => [image, build?.dockerfile])).toEqual([
      ['vedette', 'docker/service.Dockerfile'],
      ['vedette-agent', 'docker/agent.Dockerfile'],
    ]);
    // No registry has these images.
    for (const [name, { pull_policy: policy }] of own)
      expect(policy, name).toMatch(/^(?:build|never)$/);
  });

  it.each(own)('sets for %s only variables that are read', (name, service) => {
    const { rows } = isAgent(service) ? AGENT : SERVICE;
    const known = [...rows.map((row) => row.name), ...(name === 'setup' ? ['SERVICE_URL'] : [])];
    const set = Object.keys(service.environment ?? {});
    expect(set.filter((each) => !known.includes(each))).toEqual([]);
  });

  it('has a configuration that agents and service accept, with the secrets of prepare.mjs', () => {
    const folder = makeTempFolder();
    writeFileSync(folder.file('key'), `pl_${'1'.repeat(32)}\n`);
    for (const [name, { environment = {} }] of services.filter(([, service]) => isAgent(service))) {
      const config = loadConfig({
        ...environment,
        API_KEY_FILE: folder.file('key'),
        DATA_DIR: folder.path,
      });
      expect(config, name).toMatchObject({ healthPort: 8081, work: { kind: 'service' } });
    }
    folder.remove();
    const config = loadServiceConfig({
      ...composeService('service').environment,
      DATABASE_URL: `postgres://vedette:secret@${DATABASE}`,
      ENCRYPTION_KEY: '2'.repeat(64),
      FIRST_API_KEY: `vk_${'3'.repeat(32)}`,
      S3_ACCESS_KEY_ID: 'one',
      S3_SECRET_ACCESS_KEY: 'other',
    });
    expect(config.artifacts.s3).toMatchObject({ bucket: 'vedette', pathStyle: true });
    expect(composeService('prepare').command).toEqual(['/secrets', DATABASE]);
  });

  it('speaks to each program at its port, over a network that both are in', () => {
    const port = { agent: exposed('agent'), service: exposed('service') };
    expect(composeService('service').environment?.PORT).toBe(port.service);
    for (const [name, service] of services.filter(([, each]) => isAgent(each))) {
      expect(service.environment?.AGENT_HEALTH_PORT, name).toBe(port.agent);
      expect(service.healthcheck?.test.at(-1)).toBe(port.agent);
    }
    const scraped = scrapeJobs().flatMap((job) =>
      job.static_configs.flatMap(({ targets }) => targets),
    );
    const agents = services.filter(([, service]) => isAgent(service)).map(([name]) => name);
    expect(scraped).toEqual([
      ...agents.map((name) => `${name}:${port.agent}`),
      `service:${port.service}`,
    ]);
    const source = parse(
      readFileSync(join(DOCKER, 'grafana/provisioning/datasources/prometheus.yaml'), 'utf8'),
    ).datasources[0];
    const store = composeService('store').environment?.VGW_PORT;
    const links: [from: string, url: string, port: string | undefined][] = [
      ...agents.map((name): [string, string, string | undefined] => [
        name,
        composeService(name).environment?.SERVICE_URL ?? '',
        port.service,
      ]),
      ['setup', composeService('setup').environment?.SERVICE_URL ?? '', port.service],
      ['setup', composeService('setup').environment?.S3_ENDPOINT ?? '', store?.slice(1)],
      ['service', composeService('service').environment?.S3_ENDPOINT ?? '', store?.slice(1)],
      ['service', `http://${DATABASE}`, '5432'],
      ['grafana', source.url, '9090'],
      ...scraped.map((target): [string, string, string | undefined] => [
        'prometheus',
        `http://${target}`,
        target.split(':')[1],
      ]),
    ];
    for (const [from, text, wanted] of links) {
      const { hostname, port: asked } = new URL(text);
      expect(asked, text).toBe(wanted);
      const shared = composeService(hostname).networks?.filter((network) =>
        composeService(from).networks?.includes(network),
      );
      expect(shared, `${from} to ${hostname}`).not.toEqual([]);
    }
    expect(source.type).toBe('prometheus');
  });

  it('lets only the service reach the database and the object store', () => {
    expect(file.networks.data).toEqual({ internal: true });
    const inside = names.filter((name) => composeService(name).networks?.includes('data'));
    expect(inside).toEqual(['postgres', 'store', 'service', 'setup']);
    for (const name of ['postgres', 'store']) {
      expect(composeService(name)).toMatchObject({ networks: ['data'] });
      expect(composeService(name).ports).toBeUndefined();
    }
  });

  it('gives each program its own secrets only', () => {
    const seen = services.flatMap(([name, { volumes = [] }]) =>
      volumes
        .map((one) => mountOf(one))
        .filter(({ source }) => source.startsWith('secrets-') || source === 'agent-key')
        .map(({ source, options }) => `${name} ${source}${options.includes('ro') ? '' : ' rw'}`),
    );
    expect(seen.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'agent-1 agent-key',
      'agent-2 agent-key',
      'grafana secrets-grafana',
      'postgres secrets-postgres',
      'prepare secrets-grafana rw',
      'prepare secrets-postgres rw',
      'prepare secrets-service rw',
      'prepare secrets-store rw',
      'service secrets-service',
      'setup agent-key rw',
      'setup secrets-service',
      'store secrets-store',
    ]);
    expect(readFileSync(join(DOCKER, 'compose.yaml'), 'utf8')).not.toMatch(
      /[0-9a-f]{16}|PASSWORD: /,
    );
  });

  it('gives each agent a folder of its own, ICMP, and time to finish', () => {
    const agents = services.filter(([, service]) => isAgent(service));
    const folders = agents.map(
      ([, { volumes = [] }]) =>
        volumes.map(mountOf).find(({ target }) => target === '/data')?.source,
    );
    expect(new Set(folders)).toEqual(new Set(['agent-1-data', 'agent-2-data']));
    for (const [name, { sysctls, environment, stop_grace_period: grace = '' }] of agents) {
      expect(sysctls, name).toEqual({ 'net.ipv4.ping_group_range': '0 2147483647' });
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(
        Number(environment?.SHUTDOWN_GRACE_SECONDS),
      );
    }
    const standard = SERVICE_ENVIRONMENT.find(
      (row) => row.name === 'SHUTDOWN_GRACE_SECONDS',
    )?.default;
    const grace = composeService('service').stop_grace_period ?? '';
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(Number(standard));
  });

  it('runs scripts that exist, with programs of the images', () => {
    for (const [name, { entrypoint = [], command = [], volumes = [], healthcheck }] of own) {
      const words = [...entrypoint, ...command, ...(healthcheck?.test ?? [])];
      for (const path of words.flatMap((word) => word.match(/\/opt\/vedette\/\S+/g) ?? [])) {
        const mounted = volumes
          .map(mountOf)
          .some(
            ({ source, target }) =>
              path.startsWith(`${target}/`) &&
              existsSync(join(DOCKER, source, path.slice(target.length))),
          );
        const inImage = ['/opt/vedette/dist/cli/main.js', '/opt/vedette/healthcheck.mjs'].includes(
          path,
        );
        expect(mounted || inImage, `${name}: ${path}`).toBe(true);
        const image = isAgent(composeService(name)) ? 'agent' : 'service';
        if (inImage) expect(dockerfile(image)).toContain(path);
      }
    }
    expect(statSync(join(DOCKER, 'compose/with-secrets.sh')).mode & 0o111).not.toBe(0);
  });

  it.each(readmeCommands)('has the services and files that the README asks in %s', (_, text) => {
    const asked = [
      ...text.matchAll(/(?:exec -T|run --rm(?: -T --entrypoint sh)?|--no-deps) ([\w-]+)/g),
    ].map(([, name = '']) => name);
    expect(names).toEqual(expect.arrayContaining(asked));
    expect(text).toContain('-f docker/compose.yaml ');
    const mounted = asked.flatMap((name) => (composeService(name).volumes ?? []).map(mountOf));
    for (const path of text.match(/\/(?:run|secrets)[\w/-]+/g) ?? []) {
      const folder = path.slice(0, path.lastIndexOf('/'));
      expect(mounted.map(({ target }) => target)).toContain(folder);
      expect(prepared, path).toContain(path.split('/').at(-1));
    }
  });

  it('mounts the dashboards into Grafana', () => {
    const mounts = (composeService('grafana').volumes ?? []).map(mountOf);
    const dashboard = mounts.find(({ source }) => source === './grafana/vedette.json');
    const provider = parse(
      readFileSync(join(DOCKER, 'grafana/provisioning/dashboards/vedette.yaml'), 'utf8'),
    ).providers[0];
    expect(dashboard?.target).toBe(`${provider.options.path}/vedette.json`);
    expect(composeService('grafana').environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(
      dashboard?.target,
    );
    expect(mounts).toContainEqual(
      expect.objectContaining({
        source: './grafana/checks.json',
        target: `${provider.options.path}/checks.json`,
      }),
    );
    for (const kind of ['datasources', 'dashboards']) {
      expect(mounts).toContainEqual(
        expect.objectContaining({
          source: `./grafana/provisioning/${kind}`,
          target: `/etc/grafana/provisioning/${kind}`,
        }),
      );
    }
  });
});
