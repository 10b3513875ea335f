import { describe, expect, it } from 'vitest';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import { configMapOf, plainName, workloadsOf } from '../../support/kubernetes/objects.ts';
import { brokenReferences } from '../../support/kubernetes/references.ts';
import { comparable } from '../../support/kubernetes/same-objects.ts';
import { schemaProblems } from '../../support/kubernetes/schemas.ts';
import { built, CHART, rendered, run } from '../../support/kubernetes/tools.ts';
import { lacking } from '../../support/process/system-needs.ts';

const missing = lacking({ commands: ['kubectl', 'helm'], files: [] });
const LACKS = missing === null ? '' : ` (lacks ${missing})`;
/** Sets the required values. */
const CHART_SETTINGS = ['--set', 'agent.serviceUrl=https://vedette.example.com'];
const CHART_SERVICE = ['--set', 'service.enabled=true,service.s3Bucket=vedette-artifacts'];

describe.skipIf(missing !== null)(`the chart${LACKS}`, () => {
  it('the chart passes helm lint', () => {
    expect(run('helm', ['lint', '--strict', CHART, ...CHART_SETTINGS, ...CHART_SERVICE])).toContain(
      '0 chart(s) failed',
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
  ])('makes what the kustomization %s does', (folder, settings) => {
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
    expect(comparable(jobs)).toEqual(comparable(built('migrate')));
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
        'agent.podMonitor=true,agent.autoscaling.enabled=true,service.ingress.enabled=true',
        '--set',
        'agent.env.LOG_LEVEL=debug,service.env.S3_FORCE_PATH_STYLE=on',
        '--set-json',
        'agent.tolerations=[{"operator":"Exists"}],service.nodeSelector={"disk":"ssd"}',
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

  it('the chart passes variables as text, whatever type YAML gives them', () => {
    const variables = { S3_FORCE_PATH_STYLE: true, RATE_LIMIT_PER_MINUTE: 1_000_000 };
    const objects = rendered([
      ...CHART_SERVICE,
      '--set-json',
      `agent.spoolMaxMib=1048576,agent.env={"EVIDENCE":false},service.env=${JSON.stringify(variables)}`,
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

  it('leaves the public URL of a service without an ingress open', () => {
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

  it.each([
    ['no address of a service', [], 'set agent.serviceUrl to the address of your service'],
    ['no bucket', ['--set', 'service.enabled=true'], 'set service.s3Bucket'],
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
