import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadServiceConfig } from '../../../src/service/config.ts';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import { runReadme } from '../../support/kubernetes/commands.ts';
import { unhardened } from '../../support/kubernetes/hardening.ts';
import {
  configMapOf,
  KUBERNETES,
  type KubernetesObject,
  workloadsOf,
} from '../../support/kubernetes/objects.ts';
import { brokenReferences, secretsOf } from '../../support/kubernetes/references.ts';
import { schemaProblems } from '../../support/kubernetes/schemas.ts';
import { built } from '../../support/kubernetes/tools.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const missing = lacking({ commands: ['kubectl'], files: [] });
const LACKS = missing === null ? '' : ` (lacks ${missing})`;

describe.skipIf(missing !== null)(`the kustomizations${LACKS}`, () => {
  it.each([
    ...['base', 'service', 'migrate'],
    ...['overlays/persistent', 'overlays/complete', 'overlays/single'],
  ])('%s makes valid objects that fit together, with no more rights than they need', (folder) => {
    const objects = built(folder);
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    expect(brokenReferences(objects)).toEqual([]);
    expect(workloadsOf(objects).flatMap(unhardened)).toEqual([]);
    expect(objects.length).toBeGreaterThan(0);
  });

  it('overlays/persistent differs from the base only in its volumes', () => {
    const [base] = workloadsOf(built('base'));
    const [persistent] = workloadsOf(built('overlays/persistent'));
    expect(persistent?.object).toMatchObject({
      kind: 'StatefulSet',
      spec: { serviceName: 'vedette-agent', replicas: 2, podManagementPolicy: 'Parallel' },
    });
    expect(persistent?.object.spec).not.toHaveProperty('strategy');
    const volumes = base?.template.spec.volumes.filter(({ name }) => name !== 'data');
    expect(persistent?.template).toEqual({
      ...base?.template,
      spec: { ...base?.template.spec, volumes },
    });
  });

  it('overlays/single needs no secret, no bucket and no other database', () => {
    const objects = built('overlays/single');
    expect([...secretsOf(objects)].filter((name) => !name.endsWith('?'))).toEqual([]);
    const [workload] = workloadsOf(objects);
    expect(workload?.object).toMatchObject({ kind: 'StatefulSet', spec: { replicas: 1 } });
    const env = workload?.template.spec.containers[0]?.env ?? [];
    const config = loadServiceConfig({
      ...configMapOf(objects, 'vedette'),
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
    });
    expect(config).toMatchObject({ dataDir: '/data', databaseUrl: null, artifacts: { s3: null } });
    const claim = { metadata: { name: 'data' } };
    expect(workload?.object.spec?.volumeClaimTemplates).toMatchObject([claim]);
    expect(workload?.template.spec.containers[0]?.volumeMounts).toContainEqual({
      name: 'data',
      mountPath: '/data',
    });
  });

  it('overlays/complete connects the agents to the service', () => {
    const objects = built('overlays/complete');
    const url = new URL(String(configMapOf(objects, 'vedette-agent').SERVICE_URL));
    const service = objects.find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === url.hostname,
    );
    expect(service?.spec?.ports).toEqual([expect.objectContaining({ port: Number(url.port) })]);
  });

  it.each([
    ['base', 'service', 'Deployment'],
    ['overlays/persistent', 'overlays/single', 'StatefulSet'],
  ])('take all components over %s and %s, with the migration', (folder, service, kind) => {
    const objects = overlaid(
      `resources: [KUBERNETES/${folder}, KUBERNETES/${service}, KUBERNETES/migrate]
components:
  - KUBERNETES/components/autoscaling
  - KUBERNETES/components/evidence
  - KUBERNETES/components/extra-ca
  - KUBERNETES/components/ingress
  - KUBERNETES/components/pod-monitor
  - KUBERNETES/components/prometheus-rule
  - KUBERNETES/components/service-monitor
patches:
  - target: { kind: HorizontalPodAutoscaler }
    patch: |-
      - { op: replace, path: /spec/scaleTargetRef/kind, value: ${kind} }
`,
    );
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    expect(brokenReferences(objects)).toEqual([]);
    const agent = objects.find(
      (object) => object.kind === kind && object.metadata.name === 'vedette-agent',
    );
    expect(agent?.spec).not.toHaveProperty('replicas');
    expect(workloadsOf(objects)).toHaveLength(3);
    for (const { template } of workloadsOf(objects)) {
      expect(template.spec.containers[0]?.env.at(-1)).toEqual({
        name: 'NODE_EXTRA_CA_CERTS',
        value: '/etc/vedette/ca/ca.crt',
      });
    }
    expect([...secretsOf(objects)]).toContain('vedette-ca');
    // Only what the component for captures adds.
    expect(workloadsOf(objects).flatMap(unhardened)).toEqual([
      expect.stringContaining(`${kind} vedette-agent: securityContext of agent`),
    ]);
    expect(agent).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                securityContext: {
                  allowPrivilegeEscalation: true,
                  capabilities: { add: ['NET_RAW'], drop: ['ALL'] },
                },
              },
            ],
          },
        },
      },
    });
  });

  it('the manifests take image, replicas and variables from an overlay, and a change restarts the pods', () => {
    const before = built('base');
    const after = overlaid(`resources: [KUBERNETES/base]
images: [{ name: vedette-agent, newName: registry.example.com/vedette-agent, newTag: 1.2.3 }]
replicas: [{ name: vedette-agent, count: 4 }]
configMapGenerator:
  - name: vedette-agent
    behavior: merge
    literals: [SERVICE_URL=https://vedette.example.com]
`);
    const [workload] = workloadsOf(after);
    expect(workload?.object.spec?.replicas).toBe(4);
    const [container] = workload?.template.spec.containers ?? [];
    expect(container?.image).toBe('registry.example.com/vedette-agent:1.2.3');
    const map = after.find(({ kind }) => kind === 'ConfigMap');
    expect(map?.data).toMatchObject({
      SERVICE_URL: 'https://vedette.example.com',
      JOB_CONCURRENCY: '100',
    });
    expect(container?.envFrom[0]?.configMapRef?.name).toBe(map?.metadata.name);
    expect(map?.metadata.name).not.toBe(
      before.find(({ kind }) => kind === 'ConfigMap')?.metadata.name,
    );
  });
});

describe.skipIf(missing !== null)(`the README's commands${LACKS}`, () => {
  const env = {
    LOCATION_KEY: `pl_${'0f'.repeat(16)}`,
    SERVICE_URL: 'https://vedette.example.com',
    SHOP_TOKEN: 's3cret-and-long',
    DATABASE_URL: 'postgres://vedette@postgres:5432/vedette',
    S3_BUCKET: 'vedette-artifacts',
  };

  it('the agent manifests create all that agents need in one namespace', () => {
    const folder = temporaryFolder();
    const { objects, noted } = runReadme(
      folder,
      ['kubernetes-agents', 'kubernetes-variables', 'kubernetes-rotate'],
      env,
    );
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    const [namespace, ...others] = objects;
    expect(namespace).toMatchObject({ kind: 'Namespace', metadata: { name: 'vedette' } });
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['vedette']));
    expect(unmade(others)).toEqual([]);
    const secrets = objects.filter(({ kind }) => kind === 'Secret');
    expect(secrets.map(({ metadata, data = {} }) => [metadata.name, plainOf(data)])).toEqual([
      ['vedette-agent-key', { API_KEY: env.LOCATION_KEY }],
      ['vedette-agent-variables', { SHOP_TOKEN: env.SHOP_TOKEN }],
      ['vedette-agent-key', { API_KEY: env.LOCATION_KEY }],
    ]);
    expect(configMapOf(objects, 'vedette-agent').SERVICE_URL).toBe(env.SERVICE_URL);
    // The objects that the commands request from the cluster exist.
    expect(noted).toEqual([
      'label namespace vedette pod-security.kubernetes.io/enforce=restricted',
      '-n vedette rollout status deployment/vedette-agent',
    ]);
  });

  it('agents run where the cluster lets them, with the image of a private registry', () => {
    const folder = temporaryFolder();
    const { objects } = runReadme(folder, ['kubernetes-agents', 'kubernetes-placement'], env);
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    const agents = objects.filter(({ kind }) => kind === 'Deployment').at(-1);
    expect(agents?.spec?.template).toMatchObject({
      metadata: { annotations: { 'example.com/scan': 'off' } },
      spec: {
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'monitoring',
        affinity: { nodeAffinity: {} },
      },
    });
    const account = objects.filter(({ kind }) => kind === 'ServiceAccount').at(-1);
    expect(account?.metadata).toMatchObject({
      annotations: { 'eks.amazonaws.com/role-arn': expect.any(String) },
    });
  });

  it('the patches for the rules of a cluster apply to the migration, too', () => {
    const command = readmeCommand('kubernetes-placement');
    const [, patches] = /<<'END'\n([\s\S]*?)\nEND$/m.exec(command) ?? [];
    const objects = overlaid(`resources: [KUBERNETES/migrate]\n${patches}\n`);
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    expect(workloadsOf(objects).map(({ template }) => template)).toMatchObject([
      {
        metadata: { annotations: { 'example.com/scan': 'off' } },
        spec: {
          imagePullSecrets: [{ name: 'registry' }],
          priorityClassName: 'monitoring',
          affinity: { nodeAffinity: {} },
        },
      },
    ]);
  });

  it('the service manifests create all that the service needs, and its migration', () => {
    const folder = temporaryFolder();
    const { objects, noted } = runReadme(folder, ['kubernetes-service', 'kubernetes-migrate'], env);
    expect(objects.flatMap(schemaProblems)).toEqual([]);
    expect(brokenReferences(objects)).toEqual([]);
    expect(unmade(objects)).toEqual([]);
    const { DATABASE_URL, ENCRYPTION_KEY, FIRST_API_KEY } = plainOf(
      objects.find(({ kind }) => kind === 'Secret')?.data ?? {},
    );
    const config = loadServiceConfig({
      ...configMapOf(objects, 'vedette'),
      ...{ DATABASE_URL, ENCRYPTION_KEY, FIRST_API_KEY },
    });
    expect(config).toMatchObject({
      databaseUrl: env.DATABASE_URL,
      firstApiKey: expect.stringMatching(/^vk_/),
      artifacts: { s3: { bucket: env.S3_BUCKET } },
    });
    expect(noted).toContain(
      '-n vedette wait --for=condition=complete --timeout=15m job/vedette-migrate',
    );
  });
});

/** Secrets that pods need to start, and that are not among the objects. */
function unmade(objects: readonly KubernetesObject[]): readonly string[] {
  const made = objects
    .filter(({ kind }) => kind === 'Secret')
    .flatMap(({ metadata: { name }, data = {} }) => [
      name,
      ...Object.keys(data).map((key) => `${name}/${key}`),
    ]);
  return [...secretsOf(objects)].filter((name) => !name.endsWith('?') && !made.includes(name));
}

function plainOf(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

/** The output of a user's kustomization, in which KUBERNETES is replaced by the relative path. */
function overlaid(text: string): readonly KubernetesObject[] {
  const folder = temporaryFolder();
  const path = join(folder, 'kustomization.yaml');
  writeFileSync(path, text.replaceAll('KUBERNETES', relative(folder, KUBERNETES)));
  return built(folder);
}

function temporaryFolder(): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}
