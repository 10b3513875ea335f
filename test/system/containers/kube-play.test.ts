import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childrenOf, statusOf } from '../../support/containers/container.ts';
import { ContainerDeployment } from '../../support/containers/container-deployment.ts';
import {
  CONTAINER_COMMANDS,
  CONTAINER_FILES,
  IMAGES_LIMIT_MS,
} from '../../support/containers/images.ts';
import { runReadme } from '../../support/kubernetes/commands.ts';
import {
  configurationWithSysctls,
  playFile,
  playSecrets,
} from '../../support/kubernetes/for-podman.ts';
import { type PodTemplate, workloadsOf } from '../../support/kubernetes/objects.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const lack = lacking({
  commands: [...CONTAINER_COMMANDS, 'kubectl', 'catatonit'],
  files: CONTAINER_FILES,
});
/** podman's name for the Deployment's only pod. */
const POD = 'vedette-agent-pod-0';
const REGISTRY = 'registry.example.com/vedette-agent:0.1.0';

let deployment: ContainerDeployment;

describe.skipIf(lack !== null)(
  `the agent's pod of the manifests${lack === null ? '' : ` (lacks ${lack})`}`,
  () => {
    beforeAll(async () => {
      deployment = await ContainerDeployment.start();
      await deployment.host.podman('tag', 'vedette-agent', REGISTRY);
    }, IMAGES_LIMIT_MS);
    afterAll(() => deployment?.close());
    afterEach(async () => {
      await deployment.host.tryPodman('pod', 'rm', '--force', '--time', '5', POD);
      await deployment.host.tryPodman('secret', 'rm', '--all');
      await deployment.host.tryPodman('volume', 'prune', '--force');
    });

    it('an agent pod becomes ready, runs checks with its secrets and volumes, and stops without errors', async () => {
      const place = await deployment.addLocation();
      const url = 'http://targets:8000/{{{SHOP_TOKEN}}}';
      const checks = [
        await deployment.addCheck(place, 'icmp', { hostname: 'targets', pingCount: 2 }),
        await deployment.addCheck(place, 'url', { url }),
      ];
      const { spec } = await play(place.key);
      const [container] = spec.containers;
      const path = (probe: 'startupProbe' | 'readinessProbe' | 'livenessProbe'): string =>
        container?.[probe]?.httpGet.path ?? '';
      const agent = deployment.host.container(`${POD}-agent`);
      await agent.logged(/health and metrics are served/);
      for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
        const { status } = await deployment.agentIs(path(probe), (reply) => reply.status === 200);
        expect(status, probe).toBe(200);
      }

      for (const id of checks) await deployment.runNow(id);
      await deployment.delivered(checks.length);
      for (const id of checks) {
        const { json } = await deployment.ask(`/v1/check-results/${id}`);
        expect(json, id).toMatchObject([{ hasFailures: false, hasErrors: false }]);
      }

      const pid = childrenOf(await agent.pid())[0] ?? 0;
      expect(statusOf(pid, 'Uid')).toBe('10001\t10001\t10001\t10001');
      expect(statusOf(pid, 'CapBnd')).toBe('0000000000000000');
      expect(statusOf(pid, 'NoNewPrivs')).toBe('1');
      expect(statusOf(pid, 'Seccomp')).toBe('2');
      expect((await agent.exec('touch', '/new')).stderr).toContain('Read-only file system');
      expect((await agent.exec('cat', '/proc/sys/net/ipv4/ping_group_range')).stdout).toBe(
        '10001\t10001\n',
      );

      const grace = String(spec.terminationGracePeriodSeconds);
      await deployment.host.podman('pod', 'stop', '--time', grace, POD);
      expect(await agent.ended()).toBe(0);
      expect(await agent.logs()).not.toMatch(/"(?:error|fatal)"/);
    });
  },
);

/** Starts the objects that the README's commands send to a cluster. @returns the created pod */
async function play(key: string): Promise<PodTemplate> {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const env = { LOCATION_KEY: key, SHOP_TOKEN: 'hunter22', SERVICE_URL: 'http://vedette:8080' };
  const { objects } = runReadme(folder.path, ['kubernetes-agents', 'kubernetes-variables'], env);
  const [workload] = workloadsOf(objects);
  if (workload === undefined) throw new Error('nothing makes a pod');
  const { host } = deployment;
  const configuration = folder.file('containers.conf');
  configurationWithSysctls(
    { from: join(host.folder, 'containers.conf'), to: configuration },
    workload.template,
  );
  for (const [name, text] of playSecrets(objects)) {
    writeFileSync(folder.file(name), text);
    await host.podman('secret', 'create', name, folder.file(name));
  }
  writeFileSync(folder.file('play.yaml'), playFile(objects));
  const { code, stdout, stderr } = await host.script(
    `podman kube play --network vedette ${folder.file('play.yaml')}`,
    { CONTAINERS_CONF: configuration },
  );
  if (code !== 0) throw new Error(`podman kube play: exit ${code}\n${stdout}\n${stderr}`);
  return workload.template;
}
