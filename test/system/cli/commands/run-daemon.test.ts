import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCli } from '../../../support/agent/cli.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

async function target(): Promise<string> {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A check file that can be written again. */
function checkFile() {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = folder.file('checks.yaml');
  return {
    path,
    write: (...checks: readonly object[]) => writeFileSync(path, JSON.stringify({ checks })),
  };
}

describe('vedette agent', () => {
  it('writes NDJSON results to stdout and its log to stderr', async () => {
    const file = checkFile();
    const request = { hostname: '127.0.0.1', port: Number(new URL(await target()).port) };
    const often = { checkType: 'TCP', frequency: 0, frequencyOffset: 10, request };
    // The checks are spread over ten seconds by their ids, so one of them is due very soon.
    file.write(...Array.from({ length: 40 }, (_, n) => ({ id: `check-${n}`, ...often })));
    const env = { CHECKS_FILE: file.path, AGENT_HEALTH_PORT: '0' };
    const cli = startCli(['agent'], env);
    const line = (await cli.seen('stdout', /^\{.*\}\n/)).split('\n')[0] ?? '';
    expect(JSON.parse(line)).toMatchObject({
      resultType: 'FINAL',
      checkType: 'TCP',
      hasFailures: false,
      runLocation: 'local',
    });
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended;
    expect(code).toBe(0);
    for (const text of [...stdout.trimEnd().split('\n'), ...stderr.trimEnd().split('\n')]) {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
  });

  it('reports an invalid changed file on stderr, and keeps running', async () => {
    const file = checkFile();
    const request = { url: await target() };
    file.write({ id: 'daily', checkType: 'URL', frequency: 1440, request });
    const cli = startCli(['agent'], { CHECKS_FILE: file.path, AGENT_HEALTH_PORT: '0' });
    await cli.seen('stderr', /"checks loaded"/);
    if (process.platform === 'linux') {
      // Its umask keeps its files private, whoever started it.
      expect(readFileSync(`/proc/${cli.child.pid}/status`, 'utf8')).toMatch(/^Umask:\s*0077$/m);
    }
    const log = await cli.seen('stderr', /health and metrics are served/);
    const served = `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}`;
    const health = async () => (await fetch(`${served}/health`)).json();
    const metrics = async () => (await fetch(`${served}/metrics`)).text();
    expect(await health()).toMatchObject({ checkFileUsable: true });
    file.write({ id: 'daily', checkType: 'URRL', request });
    await cli.seen('stderr', /checks\[0\]\.checkType of check .*did you mean URL/);
    expect(await health()).toMatchObject({ checkFileUsable: false, checks: 1 });
    expect(await metrics()).toMatch(/^vedette_check_file_usable 0$/m);
    file.write({ id: 'daily', checkType: 'URL', frequency: 1440, request });
    await cli.seen('stderr', /"level":"warn".*the check file can be used again/);
    expect(await metrics()).toMatch(/^vedette_check_file_usable 1$/m);
    cli.child.kill('SIGINT');
    expect((await cli.ended).code).toBe(0);
  });

  it('reports on one line that its port is in use', async () => {
    const file = checkFile();
    const url = await target();
    file.write({ id: 'a', checkType: 'URL', request: { url } });
    const env = {
      CHECKS_FILE: file.path,
      AGENT_HEALTH_PORT: new URL(url).port,
      LOG_LEVEL: 'error',
    };
    const { code, stdout, stderr } = await startCli(['agent'], env).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^vedette: port \d+ \(AGENT_HEALTH_PORT\) is already in use: .*\n$/);
  });
});
