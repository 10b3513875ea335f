import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ComposeStack } from '../../support/compose/compose-stack.ts';
import { statusOf } from '../../support/containers/container.ts';
import {
  CONTAINER_COMMANDS,
  CONTAINER_FILES,
  IMAGES_LIMIT_MS,
} from '../../support/containers/images.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { until, untilResults } from '../../support/service/deployment.ts';

const lacks = lacking({ commands: CONTAINER_COMMANDS, files: CONTAINER_FILES });
const CHECKS = ['service-health', 'service-name', 'service-ping', 'service-port', 'service-ready'];

let stack: ComposeStack;

describe.skipIf(lacks !== null)(`compose.yaml${lacks === null ? '' : ` (lacks ${lacks})`}`, () => {
  beforeAll(async () => {
    stack = await ComposeStack.open();
  }, IMAGES_LIMIT_MS);
  afterAll(() => stack.host.close());

  it('the stack starts by one command, and both agents run checks of all types', async () => {
    expect(await stack.once('prepare')).toMatchObject({ code: 0, stderr: '' });
    // The service's own database replaces PostgreSQL, whose image is not available here.
    await removeSecret('DATABASE_URL');
    await stack.start('service');
    const setup = await stack.once('setup');
    expect(setup.stdout.match(/: made|: applied/g)).toEqual([
      ': made',
      ': made',
      ': made',
      ': applied',
    ]);
    expect(setup.code).toBe(0);
    await stack.start('agent-1');
    await stack.start('agent-2');

    const { json: locations } = await stack.ask('/v1/private-locations');
    const { json: agents } = await until(
      () => stack.ask(`/v1/private-locations/${locations[0].id}/agents`),
      ({ json }) => json.length === 2,
    );
    expect(agents).toHaveLength(2);
    for (const id of CHECKS) {
      await stack.ask(`/v1/checks/${id}/run`, { method: 'POST', body: {} });
      const { json } = await untilResults((path) => stack.ask(path), id);
      // Includes the job log, which explains a failed run.
      const what = `${id}: ${JSON.stringify(json[0]).slice(0, 4000)}`;
      expect(json[0], what).toMatchObject({ hasFailures: false, hasErrors: false });
    }
  });

  it('every container has only the rights that it needs', async () => {
    for (const name of ['service', 'agent-1']) {
      const container = stack.host.container(name);
      const pid = await container.pid();
      expect(statusOf(pid, 'Uid'), name).toBe('10001\t10001\t10001\t10001');
      expect(statusOf(pid, 'CapBnd'), name).toBe('0000000000000000');
      expect(statusOf(pid, 'NoNewPrivs'), name).toBe('1');
      expect((await container.exec('touch', '/new')).stderr, name).toContain(
        'Read-only file system',
      );
    }
    const agent = stack.host.container('agent-1');
    expect((await agent.exec('touch', '/run/vedette/key')).code).not.toBe(0);
  });

  it('a second start changes nothing, and each program stops in time', async () => {
    const agent = stack.host.container('agent-2');
    const key = (await agent.exec('cat', '/run/vedette/key')).stdout;
    expect((await stack.once('setup')).stdout.match(/is there|left alone/g)).toHaveLength(4);
    expect((await agent.exec('cat', '/run/vedette/key')).stdout).toBe(key);
    for (const name of ['agent-1', 'agent-2', 'service']) {
      expect(await stack.host.container(name).stop(), name).toBe(0);
    }
  });
});

async function removeSecret(name: string): Promise<void> {
  await stack.host.podman(
    ...['run', '--rm', '--user', '0:0', '--volume', 'secrets-service:/secrets'],
    ...['--entrypoint', 'rm', 'vedette', `/secrets/${name}`],
  );
}
