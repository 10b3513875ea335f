import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, loadConfig } from '../../../src/agent/config/agent-config.ts';
import { loadServiceConfig, SERVICE_ENVIRONMENT } from '../../../src/service/config.ts';
import { DOCKER } from '../../support/compose/prometheus-files.ts';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import { WITH_SECRETS } from '../../support/compose/scripts.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const missing = lacking({ commands: ['systemd-analyze', 'openssl'], files: [] });
const LACKS = missing === null ? '' : ` (lacks ${missing})`;
const AGENT = 'vedette-agent.service';
const SERVICE = 'vedette.service';
/** Exposure by `systemd-analyze security`, from 0 to 100; a unit without hardening has 96. */
const MAX_EXPOSURE = 20;

describe.skipIf(missing !== null)(`the units of systemd${LACKS}`, () => {
  it.each([
    ['the agent', AGENT, []],
    ['the service', SERVICE, []],
    ['an agent that captures', AGENT, ['systemd-capture']],
    ['a service on PostgreSQL', SERVICE, ['systemd-database']],
  ])('systemd accepts the unit of %s without warnings', (_what, unit, commands) => {
    const { folder } = installed(unit, commands);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, unit)], {
      encoding: 'utf8',
    });
    const own = stderr.split('\n').filter((line) => line.includes('vedette'));
    expect(own).toEqual([]);
  });

  it.each([AGENT, SERVICE])('%s leaves its process few rights', (unit) => {
    const { folder } = installed(unit, []);
    const options = ['--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager'];
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['security', ...options, join(folder, unit)],
      { encoding: 'utf8' },
    );
    expect({ status, stderr, stdout }).toMatchObject({ status: 0 });
    expect(stdout).toContain(`Overall exposure level for ${unit}`);
  });

  it('the agent gets its key and its folder from its unit', () => {
    const { folder, lines } = installed(AGENT, []);
    writeFileSync(join(folder, 'API_KEY'), `pl_${'0f'.repeat(16)}\n`);
    const env = environmentOf(lines, folder);
    expect(credentialsOf(lines)).toEqual(['API_KEY']);
    const config = loadConfig({ ...env, SERVICE_URL: 'https://vedette.example.com' });
    expect(config).toMatchObject({
      work: { kind: 'service', dataDir: join(folder, 'vedette-agent') },
    });
  });

  it('the service gets its secrets as variables, by the command of its unit', () => {
    const { folder, lines } = installed(SERVICE, ['systemd-database']);
    const secrets = join(folder, 'secrets');
    mkdirSync(secrets);
    const names = credentialsOf(lines);
    expect(names).toEqual(['ENCRYPTION_KEY', 'DATABASE_URL']);
    const known = SERVICE_ENVIRONMENT.filter(({ secret }) => secret).map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining([...names]));
    const values = ['0f'.repeat(32), 'postgres://vedette@127.0.0.1:5432/vedette'];
    for (const [at, name] of names.entries()) writeFileSync(join(secrets, name), `${values[at]}\n`);
    const [shell = '', script, ...rest] = (valuesOf(lines, 'ExecStart')[0] ?? '')
      .replace('%d', secrets)
      .split(' ');
    expect([script, rest.slice(2)]).toEqual([
      '/opt/vedette/docker/compose/with-secrets.sh',
      ['/opt/vedette/dist/cli/main.js', 'service'],
    ]);
    const print = ['-p', 'JSON.stringify(process.env)'];
    const { stdout } = spawnSync(shell, [WITH_SECRETS, secrets, process.execPath, ...print], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    const config = loadServiceConfig({ ...JSON.parse(stdout), ...environmentOf(lines, folder) });
    expect(config).toMatchObject({ databaseUrl: values[1], dataDir: join(folder, 'vedette') });
  });

  it.each([
    [AGENT, ENVIRONMENT],
    [SERVICE, SERVICE_ENVIRONMENT],
  ])('%s leaves time for the end before the kill', (unit, environment) => {
    const { lines } = installed(unit, []);
    const grace = environment.find(({ name }) => name === 'SHUTDOWN_GRACE_SECONDS')?.default;
    const limit = Number(valuesOf(lines, 'TimeoutStopSec')[0]);
    expect(limit).toBeGreaterThanOrEqual(Number(grace) + 15);
    expect(valuesOf(lines, 'RestartPreventExitStatus')).toEqual(['2']);
  });
});

interface Installed {
  /** Stands for /etc/systemd/system. */
  readonly folder: string;
  /** The unit with its drop-ins. */
  readonly lines: readonly string[];
}

/** Installs the unit by the README's commands, and runs further ones, in a folder. */
function installed(unit: string, commands: readonly string[]): Installed {
  const root = makeTestFolder();
  const folder = join(root, 'etc/systemd/system');
  mkdirSync(folder, { recursive: true });
  const names = [unit === AGENT ? 'systemd-agent' : 'systemd-service', ...commands];
  for (const name of names) {
    const script = readmeCommand(name)
      .replaceAll('/opt/vedette/docker', DOCKER)
      .replaceAll('/etc/', `${root}/etc/`)
      .replace(/^sudo (?:systemctl|journalctl) .*$/gm, '')
      .replaceAll('sudo ', '');
    const { status, stderr } = spawnSync('sh', ['-euc', script], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        SERVICE_URL: 'https://vedette.example.com',
        API_KEY: `pl_${'0f'.repeat(16)}`,
        DATABASE_URL: 'postgres://vedette@127.0.0.1:5432/vedette',
      },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
  const path = join(folder, unit);
  const text = readFileSync(path, 'utf8');
  // Node and the script are elsewhere on this machine.
  const here = text
    .replaceAll('/usr/bin/node', process.execPath)
    .replaceAll('/opt/vedette/docker', DOCKER);
  writeFileSync(path, here);
  const [, dropIn = ''] =
    /system\/(\S+\.d\/\S+\.conf)/.exec(commands.map(readmeCommand).join('\n')) ?? [];
  const more = dropIn === '' ? '' : readFileSync(join(folder, dropIn), 'utf8');
  return { folder, lines: `${text}\n${more}`.split('\n') };
}

function valuesOf(lines: readonly string[], key: string): readonly string[] {
  return lines
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

function credentialsOf(lines: readonly string[]): readonly string[] {
  return valuesOf(lines, 'LoadCredential').map((value) => value.replace(/:.*/, ''));
}

/** @param folder in place of the credentials' (%d) and the state's (%S) */
function environmentOf(lines: readonly string[], folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    valuesOf(lines, 'Environment').map((value) => {
      const at = value.indexOf('=');
      return [value.slice(0, at), value.slice(at + 1).replace(/%[dS]/, folder)];
    }),
  );
}
