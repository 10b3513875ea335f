import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from '../../support/agent/cli.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';
import { listening } from '../../support/servers/tcp-servers.ts';

const NEEDS = (given: number, who: string, needed: number): string =>
  `vedette: this process may open ${given} files and sockets at once, and ${who} needs ${needed}: raise the limit (ulimit -n ${needed} in a shell, LimitNOFILE= in a systemd unit, --ulimit nofile= of a container)\n`;

/** A check file of at least this length, whose check has an assertion on a body. */
function checkFile(url: string, bytes = 0): string {
  const file = `${makeTestFolder()}/checks.yaml`;
  const text = `# ${'-'.repeat(bytes)}
checks:
  - id: words
    checkType: API
    name: words
    frequency: 0
    frequencyOffset: 10
    request:
      url: ${url}
      assertions:
        - { source: TEXT_BODY, property: 'a (.*) word', comparison: EQUALS, target: good }
`;
  writeFileSync(file, text);
  return file;
}

async function target(): Promise<string> {
  const server = createServer((_, response) => response.end('a good word'));
  const { port, close } = await listening(server);
  onTestFinished(() => close());
  return `http://127.0.0.1:${port}/`;
}

describe('with few descriptors', () => {
  it('the agent starts and runs its checks: with 64, 80 and 96', async () => {
    // Parsing the text takes a thread, and the assertion another one.
    const env = { CHECKS_FILE: checkFile(await target(), 100_000), AGENT_HEALTH_PORT: '0' };
    const agents = [64, 80, 96].map((limit) => startCli(['agent'], env, 'pipe', limit));
    for (const { seen, child, ended } of agents) {
      const line = await seen('stdout', /"resultType":"FINAL".*\n/);
      expect(line).toContain('"hasFailures":false,"hasErrors":false');
      child.kill('SIGTERM');
      expect((await ended).code).toBe(0);
    }
  });

  it('the agent of a service that is away starts, too', async () => {
    const env = {
      ...{ SERVICE_URL: 'http://127.0.0.1:9', API_KEY: `pl_${'0'.repeat(32)}` },
      ...{ DATA_DIR: makeTestFolder(), AGENT_HEALTH_PORT: '0' },
    };
    const agent = startCli(['agent'], env, 'pipe', 64);
    await agent.seen('stderr', /ECONNREFUSED/);
    agent.child.kill('SIGTERM');
    expect(await agent.ended).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('EMFILE'),
    });
  });

  it.each([40, 63])('the agent says in one line that %d are too few', async (limit) => {
    const agent = startCli(['agent'], { CHECKS_FILE: 'none' }, 'pipe', limit);
    expect(await agent.ended).toMatchObject({ code: 2, stderr: NEEDS(limit, 'the agent', 64) });
  });

  it.each([
    ['the service with its embedded database', 96, 512, {}],
    ['the service', 96, 128, { DATABASE_URL: 'postgres://a:b@127.0.0.1:9/c' }],
  ])('%s says in one line that %d are too few', async (who, limit, needed, env) => {
    const service = startCli(['service'], env, 'pipe', limit);
    expect(await service.ended).toMatchObject({ code: 2, stderr: NEEDS(limit, who, needed) });
  });

  it.each(['validate', 'run'])('%s does its work with 40', async (command) => {
    const file = checkFile(await target(), 100_000);
    const { ended } = startCli([command, file], {}, 'pipe', 40);
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });
});
