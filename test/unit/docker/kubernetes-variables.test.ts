import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ENVIRONMENT, loadConfig } from '../../../src/agent/config/agent-config.ts';
import { loadServiceConfig, SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import { KUBERNETES, writtenObjects } from '../../support/kubernetes/objects.ts';
import {
  containerOf,
  environmentOf,
  podOf,
  portOf,
} from '../../support/kubernetes/written-parts.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const agent = podOf('base');
const service = podOf('service');

/** The variables that the kubelet sets in every container, whatever is switched off. */
const OF_THE_KUBELET = {
  HOSTNAME: 'vedette-agent-5c689d88bb-qtvsf',
  KUBERNETES_PORT: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
};

describe('the variables of the manifests', () => {
  it.each([
    ['base', ENVIRONMENT],
    ['service', SERVICE_ENVIRONMENT],
    ['migrate', SERVICE_ENVIRONMENT],
  ])('of %s are all read', (folder, read) => {
    const names = Object.keys(environmentOf(folder));
    expect(names.filter((name) => !read.some((row) => row.name === name))).toEqual([]);
    expect(names.length).toBeGreaterThan(0);
  });

  it('of the agent lack SERVICE_URL, and the agent says so', () => {
    const environment = { ...environmentOf('base'), VARIABLES_DIR: KUBERNETES };
    expect(() => loadConfig(environment)).toThrow('neither SERVICE_URL nor CHECKS_FILE is set');
  });

  it('of the agent are valid once it is set', () => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const key = `pl_${'0f'.repeat(16)}`;
    writeFileSync(folder.file('API_KEY'), `${key}\n`);
    const config = loadConfig({
      ...OF_THE_KUBELET,
      ...environmentOf('base'),
      API_KEY_FILE: folder.file('API_KEY'),
      VARIABLES_DIR: folder.path,
      ...overlaid('vedette-agent'),
    });
    expect(config).toMatchObject({
      healthPort: portOf(agent, 'health'),
      work: { kind: 'service', dataDir: '/data' },
    });
  });

  it('of the service lack a bucket, and the service says so', () => {
    expect(() => loadServiceConfig(environmentOf('service'))).toThrow(
      'S3_BUCKET is "(set S3_BUCKET)"; it must be the name of a bucket',
    );
  });

  it('of the service are valid once it is set', () => {
    const config = loadServiceConfig({
      ...OF_THE_KUBELET,
      ...environmentOf('service'),
      S3_BUCKET: 'vedette-artifacts',
    });
    expect(config).toMatchObject({
      port: portOf(service, 'http'),
      dataDir: null,
      artifacts: { s3: { bucket: 'vedette-artifacts' } },
    });
  });

  it('name the mounted key, variables and data', () => {
    const mounted = ['API_KEY_FILE', 'VARIABLES_DIR', 'DATA_DIR'].map(
      (name) => environmentOf('base')[name],
    );
    const mounts = containerOf(agent).volumeMounts.map(({ name, mountPath }) => [name, mountPath]);
    expect(Object.fromEntries(mounts)).toEqual({
      key: mounted[0]?.replace(/\/API_KEY$/, ''),
      variables: mounted[1],
      data: mounted[2],
    });
  });

  it.each([
    ['base', agent],
    ['service', service],
  ])('of %s leave time for the end before the kill', (folder, { spec }) => {
    const grace = Number(environmentOf(folder).SHUTDOWN_GRACE_SECONDS);
    const before = Number(spec.containers[0]?.lifecycle?.preStop.exec.command[1] ?? 0);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(grace + before + 15);
  });

  it('keep the spool under the size of its volume', () => {
    const volume = agent.spec.volumes.find(({ name }) => name === 'data');
    expect(volume?.emptyDir?.sizeLimit).toBe('1Gi');
    expect(Number(environmentOf('base').SPOOL_MAX_MIB)).toBeLessThanOrEqual(1024 - 128);
  });
});

/** The variables that the overlay with agent and service sets for one of them. */
function overlaid(name: string): Readonly<Record<string, string>> {
  const map = writtenObjects('overlays/complete').find(({ metadata }) => metadata.name === name);
  return map?.data ?? {};
}
