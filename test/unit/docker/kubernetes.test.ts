import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unhardened } from '../../support/kubernetes/hardening.ts';
import {
  KUBERNETES,
  kustomizationOf,
  workloadsOf,
  writtenObjects,
} from '../../support/kubernetes/objects.ts';
import { brokenReferences, secretsOf } from '../../support/kubernetes/references.ts';
import { schemaProblems } from '../../support/kubernetes/schemas.ts';
import { objectOf, podOf } from '../../support/kubernetes/written-parts.ts';

const FOLDERS = [
  'base',
  'service',
  'migrate',
  'overlays/persistent',
  'overlays/complete',
  'overlays/single',
  'components/autoscaling',
  'components/evidence',
  'components/extra-ca',
  'components/ingress',
  'components/pod-monitor',
  'components/prometheus-rule',
  'components/service-monitor',
];
/** The folders that belong together, in one namespace. */
const ALL = FOLDERS.filter((folder) => !folder.startsWith('overlays')).flatMap(writtenObjects);
const agent = podOf('base');
const admitting = z.looseObject({
  ingress: z.array(
    z.looseObject({
      from: z.array(
        z.strictObject({
          namespaceSelector: z.looseObject({}).optional(),
          podSelector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }).optional(),
        }),
      ),
    }),
  ),
});

describe('the Kubernetes manifests', () => {
  it('are all of the folders there are', () => {
    const found = readdirSync(KUBERNETES, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('/kustomization.yaml'))
      .map((path) => path.slice(0, path.lastIndexOf('/')));
    expect(new Set(found)).toEqual(new Set(FOLDERS));
  });

  it.each(FOLDERS)('%s has a use for each of its files', (folder) => {
    const { resources, patches } = kustomizationOf(folder);
    const used = [...resources, ...patches.flatMap(({ path }) => path ?? [])];
    const files = readdirSync(join(KUBERNETES, folder));
    expect(new Set(files)).toEqual(
      new Set([
        'kustomization.yaml',
        ...used.filter((path) => path.endsWith('.yaml')),
        // For the chart of another program, as its head says.
        ...(folder === 'components/autoscaling' ? ['prometheus-adapter.yaml'] : []),
      ]),
    );
  });

  it('are valid by the schemas that Kubernetes publishes', () => {
    expect(ALL.length).toBeGreaterThan(12);
    expect(ALL.flatMap(schemaProblems)).toEqual([]);
  });

  it.each([
    ['a field that no schema knows', { maxUnavailabel: 1 }, /maxUnavailabel: no field/],
    ['a text where a map belongs', { selector: 'vedette' }, /selector: type .*object/],
    ['a flag where a number belongs', { maxUnavailable: true }, /maxUnavailable: type/],
  ])('are not valid with %s', (_what, spec, message) => {
    const budget = objectOf('base', 'PodDisruptionBudget');
    const problems = schemaProblems({ ...budget, spec: { ...budget.spec, ...spec } });
    expect(problems[0]).toMatch(message);
  });

  it('refer only to objects that exist', () => {
    expect(brokenReferences(ALL)).toEqual([]);
  });

  it.each(['base', 'service'])('%s needs nothing of the others', (folder) => {
    expect(brokenReferences(writtenObjects(folder))).toEqual([]);
  });

  it('are reported if a reference leads nowhere', () => {
    const objects = writtenObjects('base').filter(({ kind }) => kind !== 'ConfigMap');
    expect(brokenReferences(objects)).toEqual([
      'Deployment vedette-agent: no ConfigMap vedette-agent',
    ]);
  });

  it('need the secrets that their heads name', () => {
    expect(secretsOf(writtenObjects('base'))).toEqual(
      new Set(['vedette-agent-key', 'vedette-agent-variables?']),
    );
    expect(secretsOf([...writtenObjects('service'), ...writtenObjects('migrate')])).toEqual(
      new Set([
        'vedette-database-ca?',
        'vedette/DATABASE_URL',
        'vedette/ENCRYPTION_KEY',
        'vedette/DATABASE_DIRECT_URL?',
        'vedette/FIRST_API_KEY?',
        'vedette/HEARTBEAT_URL?',
        'vedette/OIDC_CLIENT_SECRET?',
        'vedette/RCA_API_KEY?',
        'vedette/S3_ACCESS_KEY_ID?',
        'vedette/S3_SECRET_ACCESS_KEY?',
        'vedette/SMS_GATEWAY_AUTHORIZATION?',
        'vedette/SMTP_URL?',
      ]),
    );
    for (const folder of ['base', 'service']) {
      const head = readFileSync(join(KUBERNETES, folder, 'kustomization.yaml'), 'utf8');
      const names = [...secretsOf(writtenObjects(folder))].map((name) =>
        name.replace(/^vedette\/|\?$/g, ''),
      );
      expect(names.filter((name) => !head.includes(name))).toEqual([]);
    }
  });

  it('run no pod with more rights than it needs', () => {
    expect(workloadsOf(ALL)).toHaveLength(3);
    expect(workloadsOf(ALL).flatMap(unhardened)).toEqual([]);
  });

  it('let the agent alone send echo requests, and nobody else in its pod', () => {
    expect(agent.spec.securityContext.sysctls).toEqual([
      { name: 'net.ipv4.ping_group_range', value: '10001 10001' },
    ]);
  });

  it('let agents of any namespace connect to the service', () => {
    const { ingress } = admitting.parse(objectOf('service', 'NetworkPolicy').spec);
    const [pods] = ingress.flatMap(({ from }) => from);
    expect(pods?.namespaceSelector).toEqual({});
    expect(agent.metadata.labels).toMatchObject(pods?.podSelector?.matchLabels ?? { none: '' });
  });

  it('set the image in one place', () => {
    for (const folder of ['base', 'service', 'migrate']) {
      const used = workloadsOf(writtenObjects(folder)).flatMap(({ template }) =>
        template.spec.containers.map(({ image }) => image),
      );
      expect(kustomizationOf(folder).images.map(({ name }) => name)).toEqual(used);
    }
  });
});
