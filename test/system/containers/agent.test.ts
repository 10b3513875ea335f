import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childrenOf, statusOf } from '../../support/containers/container.ts';
import { ContainerDeployment } from '../../support/containers/container-deployment.ts';
import { agentImageContents } from '../../support/containers/image-contents.ts';
import {
  CONTAINER_COMMANDS,
  CONTAINER_FILES,
  IMAGES_LIMIT_MS,
  packagesBeyondBase,
  partBytes,
} from '../../support/containers/images.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { until } from '../../support/service/deployment.ts';

const lack = lacking({ commands: CONTAINER_COMMANDS, files: CONTAINER_FILES });
const MEGABYTE = 1_000_000;
const MAX_RESIDENT_BYTES = 160 * MEGABYTE;
const NO_RESTART = (command: string): string => command.replace('--restart unless-stopped ', '');

let deployment: ContainerDeployment;

const megabytes = (bytes: number): string => `${Math.round(bytes / MEGABYTE)} MB`;

/** tini's child, by the host's pid. */
async function nodePid(): Promise<number> {
  const first = await deployment.host.container('vedette-agent').pid();
  return childrenOf(first)[0] ?? 0;
}

describe.skipIf(lack !== null)(
  `the agent's image${lack === null ? '' : ` (lacks ${lack})`}`,
  () => {
    beforeAll(async () => {
      deployment = await ContainerDeployment.start();
    }, IMAGES_LIMIT_MS);
    afterAll(() => deployment?.close());
    afterEach(() => deployment.removeAgent());

    it("runs all five check types by the README's command, as UID 10001 without capabilities", async () => {
      const place = await deployment.addLocation();
      const api = { method: 'POST', url: 'http://targets:8000/', body: '{}', bodyType: 'JSON' };
      const checks = [
        await deployment.addCheck(place, 'url', { url: 'http://targets:8000/' }),
        await deployment.addCheck(place, 'api', api),
        await deployment.addCheck(place, 'tcp', { hostname: 'targets', port: 9000, data: 'hello' }),
        await deployment.addCheck(place, 'dns', { query: 'targets', recordType: 'A' }),
        await deployment.addCheck(place, 'icmp', { hostname: 'targets', pingCount: 2 }),
      ];
      const agent = await deployment.startAgent(place);
      for (const id of checks) await deployment.runNow(id);
      await deployment.delivered(checks.length);

      for (const id of checks) {
        const { json } = await deployment.ask(`/v1/check-results/${id}`);
        expect(json, id).toMatchObject([{ hasFailures: false, hasErrors: false }]);
      }
      const pid = await nodePid();
      expect(statusOf(pid, 'Uid')).toBe('10001\t10001\t10001\t10001');
      expect(statusOf(pid, 'Gid')).toBe('10001\t10001\t10001\t10001');
      expect(statusOf(pid, 'CapBnd')).toBe('0000000000000000');
      expect(statusOf(pid, 'NoNewPrivs')).toBe('1');
      expect((await agent.exec('touch', '/new')).stderr).toContain('Read-only file system');
      // The result names the unavailable evidence, and nothing else is missing.
      const warnings = (await agent.logs()).split('\n').filter((line) => line.includes('"warn"'));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/packet capture is disabled: .*--cap-add=NET_RAW/);
      expect(await agent.healthcheck()).toBe(0);
      expect(await agent.stop()).toBe(0);
    });

    it('the agent container captures packets with CAP_NET_RAW, as UID 10001', async () => {
      const place = await deployment.addLocation();
      const agent = await deployment.startAgent(place, 'docker-run-agent-capture');
      await agent.logged(/capturing packets of network failures/);
      expect(statusOf(await nodePid(), 'Uid')).toBe('10001\t10001\t10001\t10001');
      const check = await deployment.addCheck(place, 'tcp', { hostname: 'targets', port: 9 });
      await deployment.runNow(check);
      await deployment.agentIs('/metrics', ({ text }) => /result="failed"\} 1$/m.test(text));
      const log = await agent.logs();
      expect(log.split('\n').filter((line) => /"(?:warn|error)"/.test(line))).toEqual([]);
    });

    it('a draining agent container is live and not ready, and its running check finishes', async () => {
      const place = await deployment.addLocation();
      const check = await deployment.addCheck(place, 'url', { url: 'http://targets:8000/hold' });
      const agent = await deployment.startAgent(place, 'docker-run-agent', NO_RESTART);
      await deployment.runNow(check);
      await until(
        () => deployment.targets('/held'),
        (held) => held === '1',
      );
      expect(await agent.healthcheck()).toBe(0);

      await agent.signal('SIGTERM');
      await deployment.agentIs('/-/readiness', ({ status }) => status === 503);
      expect((await deployment.agentIs('/-/liveness', () => true)).status).toBe(200);
      expect(await agent.healthcheck()).toBe(1);
      await deployment.targets('/release');
      expect(await agent.ended()).toBe(0);
      const { json } = await deployment.ask(`/v1/check-results/${check}`);
      expect(json).toMatchObject([{ hasFailures: false, runLocation: place.location }]);
    });

    it('an agent container saves the result of a running check for its next start while the service is away', async () => {
      const place = await deployment.addLocation();
      const check = await deployment.addCheck(place, 'url', { url: 'http://targets:8000/hold' });
      const agent = await deployment.startAgent(place, 'docker-run-agent', NO_RESTART);
      await deployment.runNow(check);
      await until(
        () => deployment.targets('/held'),
        (held) => held === '1',
      );
      await deployment.service.stop();
      await agent.signal('SIGTERM');
      await deployment.targets('/release');
      expect(await agent.ended()).toBe(0);

      await deployment.service.start();
      await agent.start();
      await deployment.delivered(1);
      const { json } = await deployment.ask(`/v1/check-results/${check}`);
      expect(json).toMatchObject([{ hasFailures: false, runLocation: place.location }]);
    });

    it('the agent container reaps orphaned processes', async () => {
      const agent = await deployment.startAgent(await deployment.addLocation());
      const first = await agent.pid();
      const node = await nodePid();
      // Its parent ends, so the first process adopts it.
      await agent.exec('sh', '-c', 'sleep 600 > /dev/null 2>&1 &');
      const orphans = (): readonly number[] => childrenOf(first).filter((pid) => pid !== node);
      await until(
        async () => orphans(),
        ({ length }) => length === 1,
      );
      process.kill(orphans()[0] ?? 0, 'SIGKILL');
      // A zombie would remain a child.
      await until(
        async () => orphans(),
        ({ length }) => length === 0,
      );
      expect(await agent.stop()).toBe(0);
    });

    it('the agent image is as small as its list in the README says, and has no other packages', async () => {
      const { maxBytes, debian } = agentImageContents();
      const parts = await partBytes(deployment.host, 'vedette-agent');
      console.log(
        `vedette-agent over Debian: ${megabytes(parts.all)}, of them Node ${megabytes(parts.node)}, ` +
          `Debian packages ${megabytes(parts.debian)}, the rest ${megabytes(parts.vedette)}`,
      );
      expect(parts.node).toBeLessThan(maxBytes.node);
      expect(parts.debian).toBeLessThan(maxBytes.debian);
      expect(parts.vedette).toBeLessThan(maxBytes.npm + maxBytes.vedette);
      const added = await packagesBeyondBase(deployment.host, 'vedette-agent');
      expect(added).toContain('tcpdump');
      expect(added.filter((name) => !debian.has(name))).toEqual([]);
    });

    it('an idle agent container with 100 checks takes little memory', async () => {
      const place = await deployment.addLocation();
      for (let count = 0; count < 100; count += 1) {
        await deployment.addCheck(place, 'url', { url: `http://targets:8000/${count}` });
      }
      await deployment.startAgent(place);
      await deployment.agentIs('/metrics', ({ text }) => /^vedette_checks 100$/m.test(text));
      const pid = await nodePid();
      const bytesOf = (field: string): number => Number.parseInt(statusOf(pid, field), 10) * 1024;
      console.log(
        `vedette-agent with 100 checks at rest: ${megabytes(bytesOf('VmRSS'))} of memory, ` +
          `${megabytes(bytesOf('RssAnon'))} its own`,
      );
      expect(bytesOf('VmRSS')).toBeLessThan(MAX_RESIDENT_BYTES);
    });

    it('the agent image has no tool that builds or downloads, and writes only to its data folder', async () => {
      const run = (script: string) =>
        deployment.host.script(
          `docker run --rm --read-only --entrypoint sh vedette-agent -c '${script}'`,
        );
      const tools = await run(
        'command -v npm npx gcc cc make strip python3 curl wget git openssl setcap; id -u',
      );
      expect(tools.stdout).toBe('10001\n');
      const written = await run('touch /data/kept && ls /data; touch /tmp/other');
      expect(written.stdout).toBe('kept\n');
      expect(written.stderr).toContain('/tmp/other');
    });

    it('the agent image runs a check file once, and runs one continuously', async () => {
      const folder = makeTempFolder();
      onTestFinished(() => folder.remove());
      const checks = `checks:
  - { id: ping, name: Ping, checkType: ICMP, frequency: 1440, request: { hostname: 127.0.0.1, pingCount: 1 } }
`;
      writeFileSync(join(folder.path, 'checks.yaml'), checks);
      const options = { cwd: folder.path };
      expect(await deployment.command('docker-run-file', {}, options)).toMatch(
        /^PASS +Ping \(ping\) /,
      );
      await deployment.command('docker-run-agent-file', {}, options);
      await deployment.agentIs('/metrics', ({ text }) => /^vedette_checks 1$/m.test(text));
      await deployment.agentIs('/-/readiness', ({ status }) => status === 200);
    });

    it('the agent image says which image has the commands that it lacks', async () => {
      for (const command of ['service', 'up']) {
        const { code, stderr } = await deployment.host.tryPodman(
          'run',
          '--rm',
          'vedette-agent',
          command,
        );
        expect(code).toBe(2);
        expect(stderr).toContain(
          'vedette: up, service, account and user are in the image vedette, and this one',
        );
      }
    });
  },
);
