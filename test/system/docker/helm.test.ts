import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { loadServiceConfig } from '../../../src/service/config.ts';
import { ALERT_RULES } from '../../support/compose/prometheus-files.ts';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import {
  configMapOf,
  type KubernetesObject,
  plainName,
  workloadsOf,
} from '../../support/kubernetes/objects.ts';
import { brokenReferences, secretsOf } from '../../support/kubernetes/references.ts';
import { comparable } from '../../support/kubernetes/same-objects.ts';
import { schemaProblems } from '../../support/kubernetes/schemas.ts';
import { built, CHART, rendered, run } from '../../support/kubernetes/tools.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const missing = lacking({ commands: ['kubectl', 'helm'], files: [] });
const LACKS = missing === null ? '' : ` (lacks ${missing})`;
/** Sets the required values. */
const CHART_SETTINGS = ['--set', 'agent.serviceUrl=https://vedette.example.com'];
const CHART_SERVICE = ['--set', 'service.enabled=true,service.s3Bucket=vedette-artifacts'];
/** One replica with a volume, and no agents. */
const CHART_SINGLE = [
  '--set',
  'agent.enabled=false,service.enabled=true,service.persistence.enabled=true',
];
/** Values for a cluster with its own rules, for agents and service. */
const OF_THE_CLUSTER = {
  imagePullSecrets: [{ name: 'registry' }],
  podAnnotations: { 'example.com/scan': 'off' },
  serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/vedette' } },
  priorityClassName: 'monitoring',
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'zone', operator: 'In', values: ['inside'] }] },
        ],
      },
    },
  },
  envFrom: [{ secretRef: { name: 'settings' } }],
  caSecret: 'company-ca',
  extraVolumes: [{ name: 'plans', secret: { secretName: 'plans' } }],
  extraVolumeMounts: [{ name: 'plans', mountPath: '/etc/plans', readOnly: true }],
};
const FOR_THE_CLUSTER = [
  '--set-json',
  `agent=${JSON.stringify(OF_THE_CLUSTER)},service=${JSON.stringify(OF_THE_CLUSTER)}`,
];

/** The workloads of agents and service, each with these values. */
function withBoth(values: object): ReturnType<typeof workloadsOf> {
  const settings = `agent=${JSON.stringify(values)},service=${JSON.stringify(values)}`;
  const objects = rendered([...CHART_SERVICE, '--set-json', settings]);
  expect(objects.flatMap(schemaProblems)).toEqual([]);
  const workloads = workloadsOf(objects);
  expect(workloads).toHaveLength(3);
  return workloads;
}

/** The variables of the first container of each workload. */
function environmentsOf(objects: readonly KubernetesObject[]): readonly object[] {
  return workloadsOf(objects).flatMap(({ template }) => template.spec.containers[0]?.env ?? []);
}

function withoutVariables(object: KubernetesObject): KubernetesObject {
  const isVariable = (key: string): boolean => key === 'env' || key === 'envFrom';
  return JSON.parse(JSON.stringify(object, (key, value) => (isVariable(key) ? undefined : value)));
}

describe.skipIf(missing !== null)(`the chart${LACKS}`, () => {
  it('the chart passes helm lint', () => {
    expect(run('helm', ['lint', '--strict', CHART, ...CHART_SETTINGS, ...CHART_SERVICE])).toContain(
      '0 chart(s) failed',
    );
  });

  it('helm lint fails with nothing but defaults, as helm template does', () => {
    expect(() => run('helm', ['lint', CHART])).toThrow('1 chart(s) failed');
  });

  it('the release script packages the chart under a name that differs from the npm package', () => {
    const folder = makeTestFolder();
    const { version } = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8'));
    const script = join(CHART, '../../release/release.sh');
    const env = ['-i', `PATH=${process.env.PATH}`, `HOME=${folder}`, `RELEASE_FOLDER=${folder}`];
    run('env', [...env, 'bash', script, version, 'chart', 'checksums']);
    const archive = join(folder, `vedette-chart-${version}.tgz`);
    expect(run('helm', ['show', 'chart', archive])).toContain(`\nversion: ${version}\n`);
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toContain(
      `  vedette-chart-${version}.tgz\n`,
    );
  });

  it.each([
    ['base', [...CHART_SETTINGS, '--set', 'agent.image.tag=latest']],
    [
      'overlays/persistent',
      [...CHART_SETTINGS, '--set', 'agent.image.tag=latest,agent.persistence.enabled=true'],
    ],
    [
      'overlays/complete',
      [
        ...CHART_SERVICE,
        '--set',
        'agent.image.tag=latest,service.image.tag=latest,service.migrate=false',
      ],
    ],
    ['overlays/single', [...CHART_SINGLE, '--set', 'service.image.tag=latest']],
  ])('makes the same objects as the kustomization %s', (folder, settings) => {
    const fromChart = rendered(settings);
    const expected = built(folder).map((object) => ({
      ...object,
      ...(object.kind === 'ConfigMap' ? { data: configMapOf(fromChart, plainName(object)) } : {}),
    }));
    expect(comparable(fromChart)).toEqual(comparable(expected));
    // Names and values of variables are equal, except those that a user must set.
    for (const object of built(folder).filter(({ kind }) => kind === 'ConfigMap')) {
      const { SERVICE_URL: _url, S3_BUCKET: _bucket, ...others } = object.data ?? {};
      const data = configMapOf(fromChart, plainName(object));
      expect(data).toMatchObject(others);
      expect(Object.keys(data)).toHaveLength(Object.keys(object.data ?? {}).length);
    }
  });

  it('the chart’s job migrates like the job of the kustomization', () => {
    const settings = [...CHART_SERVICE, '--set', 'service.image.tag=latest,agent.enabled=false'];
    const jobs = rendered(settings).filter(({ kind }) => kind === 'Job');
    const expected = built('migrate');
    expect(comparable(jobs.map(withoutVariables))).toEqual(
      comparable(expected.map(withoutVariables)),
    );
    const needed = environmentsOf(expected);
    expect(needed).toMatchObject([{ name: 'DATABASE_URL' }]);
    expect(environmentsOf(jobs)).toEqual(expect.arrayContaining([...needed]));
  });

  it('the chart’s job gets the variables, secrets and volumes of the service', () => {
    const values = JSON.stringify({
      ...OF_THE_CLUSTER,
      env: { DATABASE_TIMEOUT_SECONDS: 100 },
      ingress: { enabled: true, host: 'status.example.org' },
    });
    const objects = rendered([
      ...[...CHART_SERVICE, '--set', 'agent.enabled=false'],
      ...['--set-json', `service=${values}`],
    ]);
    expect(brokenReferences(objects)).toEqual([]);
    const [service, job] = ['Deployment', 'Job'].map((kind) => {
      const workload = workloadsOf(objects).find(({ object }) => object.kind === kind);
      return workload?.template.spec;
    });
    expect(job?.volumes).toEqual(service?.volumes);
    expect(job?.containers[0]?.volumeMounts).toEqual(service?.containers[0]?.volumeMounts);
    // It stores nothing, so it needs no DATA_DIR.
    const env = service?.containers[0]?.env ?? [];
    expect(job?.containers[0]?.env).toEqual(env.filter(({ name }) => name !== 'DATA_DIR'));
    expect(job?.containers[0]?.envFrom).toMatchObject([
      { configMapRef: { name: 'vedette-migrate' } },
      ...OF_THE_CLUSTER.envFrom,
    ]);
    // The service's own ConfigMap has the old variables until the job has ended.
    const map = objects.find(({ metadata }) => metadata.name === 'vedette-migrate');
    expect(map).toMatchObject({
      kind: 'ConfigMap',
      metadata: { annotations: { 'helm.sh/hook': 'pre-upgrade', 'helm.sh/hook-weight': '-1' } },
    });
    expect(map?.data).toEqual(configMapOf(objects, 'vedette'));
    expect(map?.data).toMatchObject({
      DATABASE_TIMEOUT_SECONDS: '100',
      PUBLIC_URL: 'https://status.example.org',
    });
  });

  it.each([
    ['nothing but defaults', CHART_SETTINGS],
    ['the service too', CHART_SERVICE],
    [
      'everything on',
      [
        ...CHART_SETTINGS,
        ...CHART_SERVICE,
        '--set',
        'agent.persistence.enabled=true,agent.persistence.storageClassName=fast,agent.evidence=true',
        '--set',
        'agent.podMonitor=true,agent.autoscaling.enabled=true',
        '--set',
        'service.ingress.enabled=true,service.ingress.host=status.example.org',
        '--set',
        'agent.env.LOG_LEVEL=debug,service.env.S3_FORCE_PATH_STYLE=on',
        '--set-json',
        'agent.tolerations=[{"operator":"Exists"}],service.nodeSelector={"disk":"ssd"}',
        '--set',
        'service.serviceMonitor=true,prometheusRule=true,monitorLabels.release=prometheus',
      ],
    ],
    ['the rules of a cluster', [...CHART_SERVICE, ...FOR_THE_CLUSTER]],
    ['one replica with a volume', CHART_SINGLE],
    [
      'one replica with a volume that it mounts twice, and another database',
      [
        ...[...CHART_SINGLE, '--set', 'service.persistence.embeddedDatabase=false'],
        '--set-json',
        'service.extraVolumeMounts=[{"name":"data","mountPath":"/etc/plans","subPath":"plans"}]',
      ],
    ],
    [
      'everything off that can be',
      [
        ...CHART_SERVICE,
        '--set',
        'agent.enabled=false,service.migrate=false,service.networkPolicy.enabled=false',
      ],
    ],
  ])('makes valid objects that fit together, with %s', (_what, settings) => {
    const objects = rendered(settings);
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    expect(brokenReferences(objects)).toEqual([]);
  });

  it('the rules of a cluster reach every pod and service account', () => {
    const objects = rendered([...CHART_SERVICE, ...FOR_THE_CLUSTER]);
    const workloads = workloadsOf(objects);
    expect(workloads.map(({ object }) => object.kind).toSorted()).toEqual([
      'Deployment',
      'Deployment',
      'Job',
    ]);
    const { imagePullSecrets, priorityClassName, affinity, podAnnotations } = OF_THE_CLUSTER;
    for (const { template } of workloads) {
      expect(template.spec).toMatchObject({ imagePullSecrets, priorityClassName, affinity });
      expect(template.metadata).toMatchObject({ annotations: podAnnotations });
    }
    for (const { template } of workloads) {
      const [container] = template.spec.containers;
      expect(container?.envFrom.at(-1)).toMatchObject(OF_THE_CLUSTER.envFrom[0] ?? {});
      const ca = container?.env.find(({ name }) => name === 'NODE_EXTRA_CA_CERTS')?.value;
      const mount = container?.volumeMounts.find(({ name }) => name === 'ca');
      expect(ca).toBe(`${mount?.mountPath}/ca.crt`);
    }
    expect([...secretsOf(objects)]).toEqual(expect.arrayContaining(['company-ca', 'plans']));
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts).toHaveLength(2);
    for (const { metadata } of accounts) {
      expect(metadata).toMatchObject(OF_THE_CLUSTER.serviceAccount);
    }
  });

  it('takes labels, security contexts and spread constraints, and keeps its own selector', () => {
    const constraint = { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' };
    const own = { ...constraint, labelSelector: { matchLabels: { team: 'platform' } } };
    const workloads = withBoth({
      podLabels: { team: 'platform', 'app.kubernetes.io/name': 'other' },
      podSecurityContext: { runAsUser: 2000 },
      securityContext: { runAsNonRoot: true },
      topologySpreadConstraints: [constraint, own],
    });
    for (const { object, template } of workloads) {
      const { labels } = template.metadata as { labels: Record<string, string> };
      expect(labels).toMatchObject({ team: 'platform' });
      expect(labels['app.kubernetes.io/name']).not.toBe('other');
      expect(template.spec).toMatchObject({
        securityContext: { runAsUser: 2000, runAsGroup: 10001, runAsNonRoot: true },
        containers: [{ securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true } }],
      });
      if (object.kind === 'Job') continue;
      const labelSelector = object.spec?.selector;
      expect(template.spec).toMatchObject({
        topologySpreadConstraints: [{ ...constraint, labelSelector }, own],
      });
    }
  });

  it('takes false, empty and null fields of security contexts, and no constraints', () => {
    const workloads = withBoth({
      podSecurityContext: { runAsNonRoot: false, runAsUser: 0, fsGroup: null, sysctls: [] },
      securityContext: {
        readOnlyRootFilesystem: false,
        capabilities: { add: ['NET_BIND_SERVICE'] },
        allowPrivilegeEscalation: null,
      },
      topologySpreadConstraints: [],
    });
    for (const { object, template } of workloads) {
      const { securityContext, containers, topologySpreadConstraints } =
        template.spec as unknown as Record<string, unknown> & {
          containers: readonly { securityContext: unknown }[];
        };
      expect(securityContext).toEqual({
        ...{ runAsNonRoot: false, runAsUser: 0, runAsGroup: 10001, sysctls: [] },
        ...{ fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(containers[0]?.securityContext).toEqual({
        readOnlyRootFilesystem: false,
        capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      });
      if (object.kind !== 'Job') expect(topologySpreadConstraints).toEqual([]);
    }
  });

  it('keeps what evidence needs beside fields of a security context', () => {
    const securityContext = { runAsNonRoot: true };
    const values = JSON.stringify({ evidence: true, securityContext });
    const objects = rendered([...CHART_SETTINGS, '--set-json', `agent=${values}`]);
    const [agent] = workloadsOf(objects);
    expect(agent?.template.spec.containers[0]).toMatchObject({
      securityContext: {
        ...securityContext,
        allowPrivilegeEscalation: true,
        capabilities: { drop: ['ALL'], add: ['NET_RAW'] },
      },
    });
  });

  it('makes the same of values of the previous release, which lack some (--reuse-values)', () => {
    // In Helm null removes the default of a value.
    const lacking = JSON.stringify({
      ...{ podLabels: null, podSecurityContext: null, securityContext: null },
      topologySpreadConstraints: null,
    });
    const settings = ['--set-json', `agent=${lacking},service=${lacking}`];
    const objects = rendered([...CHART_SERVICE, ...settings]);
    expect(objects).toEqual(rendered(CHART_SERVICE));
  });

  it.each([
    ['needs no secret', [], ['FIRST_API_KEY?', 'ENCRYPTION_KEY?'], []],
    [
      'needs that of its database, if it has one',
      ['--set', 'service.persistence.embeddedDatabase=false'],
      ['DATABASE_URL', 'ENCRYPTION_KEY'],
      ['Job'],
    ],
  ])('one replica with a volume %s', (_what, settings, secrets, jobs) => {
    const objects = rendered([...CHART_SINGLE, ...settings]);
    expect(objects.filter(({ kind }) => kind === 'Job').map(({ kind }) => kind)).toEqual(jobs);
    const set = objects.find(({ kind }) => kind === 'StatefulSet');
    expect(set?.spec?.replicas).toBe(1);
    const needed = secretsOf(objects);
    expect(secrets.filter((name) => !needed.has(`vedette/${name}`))).toEqual([]);
    expect(needed.has('vedette/DATABASE_URL')).toBe(jobs.length > 0);
    const config = loadServiceConfig({
      ...configMapOf(objects, 'vedette'),
      DATA_DIR: workloadsOf(objects)
        .flatMap(({ template }) => template.spec.containers.flatMap(({ env }) => env))
        .find(({ name }) => name === 'DATA_DIR')?.value,
    });
    expect(config).toMatchObject({ dataDir: '/data', artifacts: { s3: null } });
  });

  it('single variables come from entries of other secrets, in the job too', () => {
    const refs = { DATABASE_URL: { name: 'database-app', key: 'uri' }, SMTP_URL: { name: 'mail' } };
    const objects = rendered([
      ...[...CHART_SERVICE, '--set', 'agent.enabled=false'],
      ...['--set-json', `service.secretRefs=${JSON.stringify(refs)}`],
    ]);
    const needed = secretsOf(objects);
    expect([...needed]).toEqual(expect.arrayContaining(['database-app/uri', 'mail/SMTP_URL']));
    expect([...needed].filter((name) => /^vedette\/(DATABASE_URL|SMTP_URL)/.test(name))).toEqual(
      [],
    );
    expect(needed.has('vedette/OIDC_CLIENT_SECRET?')).toBe(true);
    expect(brokenReferences(objects)).toEqual([]);
  });

  it('an ingress behind which TLS has ended names no certificate', () => {
    const ingress =
      'service.ingress.enabled=true,service.ingress.host=a.test,service.ingress.tlsSecret=';
    const objects = rendered([...CHART_SERVICE, '--set', ingress]);
    const { spec } = objects.find(({ kind }) => kind === 'Ingress') ?? {};
    expect(spec).not.toHaveProperty('tls');
  });

  it('the operator of Prometheus gets the alert rules and the labels that it selects by', () => {
    const objects = rendered([
      ...[...CHART_SERVICE, '--set', 'agent.podMonitor=true,service.serviceMonitor=true'],
      ...['--set', 'prometheusRule=true,monitorLabels.release=prometheus'],
    ]);
    const [rule, ...more] = objects.filter(({ kind }) => kind === 'PrometheusRule');
    expect(more).toEqual([]);
    expect(rule?.spec).toEqual(parseYaml(readFileSync(ALERT_RULES, 'utf8')));
    const selected = objects.filter(({ metadata }) => metadata.labels?.release === 'prometheus');
    expect(selected.map(({ kind }) => kind).toSorted()).toEqual([
      'PodMonitor',
      'PrometheusRule',
      'ServiceMonitor',
    ]);
  });

  it('the chart passes variables as text, whatever type YAML gives them', () => {
    const variables = { S3_FORCE_PATH_STYLE: true, RATE_LIMIT_PER_MINUTE: 1_000_000 };
    const objects = rendered([
      ...CHART_SERVICE,
      '--set-json',
      `agent.spoolMaxMib=1048576,agent.dataSize="2Ti",agent.env={"EVIDENCE":false},service.env=${JSON.stringify(variables)}`,
    ]);
    expect(configMapOf(objects, 'vedette-agent')).toMatchObject({
      EVIDENCE: 'off',
      SPOOL_MAX_MIB: '1048576',
    });
    expect(configMapOf(objects, 'vedette')).toMatchObject({
      S3_FORCE_PATH_STYLE: 'on',
      RATE_LIMIT_PER_MINUTE: '1000000',
    });
  });

  it.each([
    ['the host of the ingress', [], 'https://status.example.org'],
    ['the given one', ['--set', 'service.env.PUBLIC_URL=https://a.test'], 'https://a.test'],
  ])('tells the service its public URL: %s', (_what, settings, url) => {
    const ingress = 'service.ingress.enabled=true,service.ingress.host=status.example.org';
    const objects = rendered([...CHART_SERVICE, '--set', ingress, ...settings]);
    expect(configMapOf(objects, 'vedette').PUBLIC_URL).toBe(url);
  });

  it('leaves the public URL of a service without an ingress unset', () => {
    expect(configMapOf(rendered(CHART_SERVICE), 'vedette')).not.toHaveProperty('PUBLIC_URL');
  });

  it('the network policy allows only DNS if no target is named', () => {
    const none = 'agent.networkPolicy.egress=[],service.networkPolicy.egress=[]';
    const policies = rendered([...CHART_SERVICE, '--set-json', none]).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    );
    expect(policies).toHaveLength(2);
    for (const { spec } of policies) {
      expect(spec?.egress).toMatchObject([{ ports: [{ port: 53 }, { port: 53 }] }]);
    }
  });

  it('takes the values of a release of the chart that had no secretRefs', () => {
    const objects = rendered([...CHART_SERVICE, '--set', 'service.secretRefs=null']);
    expect([...secretsOf(objects)]).toContain('vedette/DATABASE_URL');
  });

  it.each([
    ['agent.spoolMaxMib=896', '1Gi'],
    ['agent.spoolMaxMib=512,agent.dataSize=0.625Gi', '0.625Gi'],
    ['agent.spoolMaxMib=872,agent.dataSize=1.05G', '1.05G'],
  ])('accepts a spool that just fits its volume: %s', (settings, sizeLimit) => {
    const [agent] = workloadsOf(rendered([...CHART_SETTINGS, '--set', settings]));
    expect(agent?.template.spec).toMatchObject({
      volumes: expect.arrayContaining([{ name: 'data', emptyDir: { sizeLimit } }]),
    });
  });

  it.each([
    ['the values', { shutdownGraceSeconds: 100 }, 130, 120],
    ['plain variables', { env: { SHUTDOWN_GRACE_SECONDS: '100' } }, 130, 120],
    ['plain variables of 0', { env: { SHUTDOWN_GRACE_SECONDS: 0 } }, 30, 20],
  ])('gives pods time for the grace period of %s', (_what, values, agent, service) => {
    const seconds = withBoth(values).map(({ object, template }) => [
      `${object.kind} ${object.metadata.name}`,
      template.spec.terminationGracePeriodSeconds,
    ]);
    expect(Object.fromEntries(seconds)).toMatchObject({
      'Deployment vedette-agent': agent,
      'Deployment vedette': service,
    });
  });

  it('gives processes the grace period of plain variables, also 0', () => {
    const values = JSON.stringify({ env: { SHUTDOWN_GRACE_SECONDS: 0 } });
    const settings = `agent=${values},service=${values}`;
    const objects = rendered([...CHART_SERVICE, '--set-json', settings]);
    for (const name of ['vedette-agent', 'vedette', 'vedette-migrate']) {
      expect(configMapOf(objects, name)).toMatchObject({ SHUTDOWN_GRACE_SECONDS: '0' });
    }
  });

  it.each(['agent', 'service'])('refuses variables that its pods set themselves: %s', (part) => {
    const settings = [...CHART_SERVICE, '--set', `${part}.caSecret=company-ca`];
    const containers = workloadsOf(rendered(settings)).flatMap(
      ({ template }) => template.spec.containers,
    );
    const env = containers.find(({ name }) => name === part)?.env ?? [];
    const names = env.filter(({ value }) => value !== undefined).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['DATA_DIR', 'NODE_EXTRA_CA_CERTS']));
    for (const name of names) {
      expect(() => rendered([...settings, '--set', `${part}.env.${name}=/data`])).toThrow(
        `leave out ${part}.env.${name}`,
      );
    }
  });

  it('takes root certificates of a volume instead of a secret', () => {
    const values = { NODE_EXTRA_CA_CERTS: '/etc/plans/ca.crt' };
    const settings = ['--set-json', `service.env=${JSON.stringify(values)}`];
    const objects = rendered([...CHART_SERVICE, ...settings]);
    expect(configMapOf(objects, 'vedette')).toMatchObject(values);
  });

  it('makes the alert rules alone, for the one release that has them', () => {
    const objects = rendered(['--set', 'agent.enabled=false,prometheusRule=true']);
    expect(objects.map(({ kind }) => kind)).toEqual(['PrometheusRule']);
  });

  it('makes two replicas of the service, or as many as named', () => {
    const replicasOf = (settings: readonly string[]) =>
      rendered([...CHART_SERVICE, '--set', 'agent.enabled=false', ...settings]).find(
        ({ kind }) => kind === 'Deployment',
      )?.spec?.replicas;
    expect(replicasOf([])).toBe(2);
    expect(replicasOf(['--set', 'service.replicas=0'])).toBe(0);
  });

  it.each([
    [
      'no address of a service',
      [],
      "'/agent/serviceUrl': value must be 'the address of your service, unless service.enabled is true'",
    ],
    [
      'no address of a service, if Helm does not validate values',
      ['--skip-schema-validation'],
      'set agent.serviceUrl to the address of your service, or service.enabled=true',
    ],
    [
      'values that create nothing',
      ['--set', 'agent.enabled=false'],
      'set agent.enabled, service.enabled or prometheusRule to true',
    ],
    ['no bucket', ['--set', 'service.enabled=true'], 'set service.s3Bucket'],
    [
      'a pull secret without a name',
      [...CHART_SETTINGS, '--set-json', 'agent.imagePullSecrets=[{"nam":"registry"}]'],
      'name',
    ],
    [
      'a secret among the plain variables',
      [...CHART_SERVICE, '--set', 'service.env.OIDC_CLIENT_SECRET=abc'],
      'put OIDC_CLIENT_SECRET into the secret vedette',
    ],
    [
      'the key of a location among the plain variables',
      [...CHART_SETTINGS, '--set', 'agent.env.API_KEY=pl_1'],
      'put API_KEY into the secret vedette-agent-key',
    ],
    [
      'a secret that no entry of the chart is for',
      [...CHART_SETTINGS, '--set', 'agent.env.OTEL_EXPORTER_OTLP_HEADERS=authorization=abc'],
      'put OTEL_EXPORTER_OTLP_HEADERS into a secret of agent.envFrom',
    ],
    [
      'a proxy with a password',
      [...CHART_SETTINGS, '--set', 'agent.env.HTTPS_PROXY=http://u:p@proxy:3128'],
      'put HTTPS_PROXY into a secret of agent.envFrom',
    ],
    [
      'a proxy of the service with a password',
      [...CHART_SERVICE, '--set', 'service.env.HTTPS_PROXY=http://u:p@proxy:3128'],
      'put HTTPS_PROXY into a secret of service.envFrom',
    ],
    [
      'a check file beside the service',
      [...CHART_SETTINGS, '--set', 'agent.env.CHECKS_FILE=/checks.yaml'],
      'leave out agent.env.CHECKS_FILE',
    ],
    [
      'an address of the health port that probes do not reach',
      [...CHART_SETTINGS, '--set', 'agent.env.AGENT_HEALTH_HOST=127.0.0.1'],
      'leave out agent.env.AGENT_HEALTH_HOST',
    ],
    [
      'another health port, which probes and Prometheus do not ask',
      [...CHART_SETTINGS, '--set', 'agent.env.AGENT_HEALTH_PORT=9090'],
      'port 8081 of the pod: leave out agent.env.AGENT_HEALTH_PORT',
    ],
    [
      'another port of the service, which probes do not ask',
      [...CHART_SERVICE, '--set', 'service.env.PORT=9090'],
      'port 8080 of the pod: leave out service.env.PORT',
    ],
    [
      'an address of the service that probes do not reach',
      [...CHART_SERVICE, '--set', 'service.env.HOST=127.0.0.1'],
      'leave out service.env.HOST',
    ],
    [
      'a folder of data where there is no volume',
      [...CHART_SERVICE, '--set', 'service.env.DATA_DIR=/x'],
      'only a service with service.persistence.enabled=true has data of its own',
    ],
    [
      'a volume with the name of one of the chart',
      [...CHART_SINGLE, '--set', 'service.extraVolumes[0].name=data'],
      'service.extraVolumes has a volume data, but the pod already has one of this name',
    ],
    [
      'two volumes of one name',
      [...CHART_SETTINGS, '--set', 'agent.extraVolumes[0].name=a,agent.extraVolumes[1].name=a'],
      'agent.extraVolumes has a volume a, but the pod already has one of this name',
    ],
    [
      'a mount of no volume',
      [...CHART_SETTINGS, '--set-json', 'agent.extraVolumeMounts=[{"name":"a","mountPath":"/a"}]'],
      'agent.extraVolumeMounts mounts a, which is no volume of the pod: add it to agent.extraVolumes, or mount one of data, key, variables',
    ],
    [
      'a slip in a mount',
      [...CHART_SETTINGS, '--set-json', 'agent.extraVolumeMounts=[{"name":"data","path":"/a"}]'],
      "missing property 'mountPath'",
    ],
    [
      'a slip in a source of variables',
      [...CHART_SETTINGS, '--set-json', 'agent.envFrom=[{"secret":{"name":"settings"}}]'],
      "additional properties 'secret'",
    ],
    [
      'a slip in the resources',
      [...CHART_SERVICE, '--set', 'service.resources.request.cpu=1'],
      "additional properties 'request'",
    ],
    [
      'an amount that is none',
      [...CHART_SERVICE, '--set', 'service.resources.requests.cpu=lots'],
      "'lots' does not match pattern",
    ],
    [
      'the entry of a variable that is no secret',
      [...CHART_SERVICE, '--set', 'service.secretRefs.LOG_LEVEL.name=a'],
      'LOG_LEVEL',
    ],
    [
      'a spool that its volume cannot hold',
      [...CHART_SETTINGS, '--set', 'agent.spoolMaxMib=897'],
      'agent.dataSize (1Gi) must be at least 128 MiB more than agent.spoolMaxMib (897 MiB): set agent.dataSize to 1025Mi',
    ],
    [
      'a spool of a plain variable that its volume cannot hold',
      [...CHART_SETTINGS, '--set', 'agent.env.SPOOL_MAX_MIB=900,agent.dataSize=1G'],
      'agent.dataSize (1G) must be at least 128 MiB more than agent.spoolMaxMib (900 MiB)',
    ],
    ['a size of no known unit', [...CHART_SETTINGS, '--set', 'agent.dataSize=1GB'], 'dataSize'],
    [
      'an autoscaler that never adds an agent',
      [...CHART_SETTINGS, '--set', 'agent.autoscaling.enabled=true,agent.autoscaling.running=100'],
      'agent.autoscaling.running (100) must be less than agent.jobConcurrency (100)',
    ],
    [
      'several replicas with one volume',
      [...CHART_SINGLE, '--set', 'service.replicas=3'],
      'service.persistence.enabled is for one replica: leave out service.replicas (3)',
    ],
    [
      'an ingress without a host',
      [...CHART_SERVICE, '--set', 'service.ingress.enabled=true'],
      'set service.ingress.host to the public name of the service',
    ],
    ['a slip', [...CHART_SETTINGS, '--set', 'agent.replica=3'], "additional properties 'replica'"],
    ['a number out of range', [...CHART_SETTINGS, '--set', 'agent.jobConcurrency=0'], 'minimum'],
  ])('refuses %s, and says so', (_what, settings, message) => {
    expect(() => rendered(settings)).toThrow(message);
  });

  it('the chart is installed by the command of the README', () => {
    const words = readmeCommand('helm-agents')
      .replaceAll('\\\n', ' ')
      .replaceAll('$SERVICE_URL', 'https://vedette.example.com')
      .replaceAll('"', '')
      .trim()
      .split(/\s+/);
    expect(words.slice(0, 5)).toEqual([
      'helm',
      'upgrade',
      '--install',
      'vedette',
      'docker/helm/vedette',
    ]);
    const objects = rendered(words.slice(5));
    expect(workloadsOf(objects)[0]?.template.spec.containers[0]?.image).toBe(
      'registry.example.com/vedette-agent:0.1.0',
    );
  });
});
