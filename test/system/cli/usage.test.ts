import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runHere as run, runCli } from '../../support/agent/cli.ts';
import { readDocument } from '../../support/documents.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const TCP = '{ id: a, checkType: TCP, request: { hostname: localhost, port: 80 } }';

function fileOf(text: string | Buffer): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('checks.yaml'), text);
  return folder.file('checks.yaml');
}

describe('mistakes on the command line', () => {
  it.each([
    [['rnu', 'x'], "vedette: unknown command 'rnu' (Did you mean run?); see vedette --help"],
    [['run'], "vedette: missing required argument 'file'; see vedette --help"],
    [
      ['run', 'x', '--chek', 'a'],
      "vedette: unknown option '--chek' (Did you mean --check?); see vedette --help",
    ],
    [
      ['run', 'x', '--output', 'xml'],
      "vedette: option '--output <format>' argument 'xml' is invalid. Allowed choices are pretty, json; see vedette --help",
    ],
    [['run', '/no/such/file'], 'vedette: /no/such/file: there is no such file'],
    [['validate', '/no/such/file'], 'vedette: /no/such/file: there is no such file'],
    [['up', '--file', '/no/such/file'], 'vedette: /no/such/file: there is no such file'],
    [
      ['run', ''],
      "vedette: command-argument value '' is invalid for argument 'file'. It must not be empty; see vedette --help",
    ],
    [
      ['up', '--file='],
      "vedette: option '--file <file>' argument '' is invalid. It must not be empty; see vedette --help",
    ],
    [
      ['apply', 'x', '--prun'],
      "vedette: unknown option '--prun' (Did you mean --prune?); see vedette --help",
    ],
    [
      ['history', 'a', '--limit', '101'],
      "vedette: option '--limit <n>' argument '101' is invalid. It must be a whole number from 1 to 100; see vedette --help",
    ],
    [
      ['help', 'rnu'],
      "vedette: no command or topic is named 'rnu' (did you mean run?); vedette help lists them all",
    ],
    [
      ['help', 'service', 'start'],
      "vedette: no command or topic is named 'service start' (did you mean service?); vedette help lists them all",
    ],
    [
      ['help', 'alerts', 'email'],
      "vedette: no command or topic is named 'alerts email'; vedette help lists them all",
    ],
    [
      ['help', '\u001b[2J'],
      "vedette: no command or topic is named '\\u{1b}[2J'; vedette help lists them all",
    ],
    [['run', '/'], 'vedette: / is a directory, not a check file'],
    [['up', '--file', '/'], 'vedette: / is a directory, not a check file'],
    [
      ['apply', 'a', 'b'],
      "vedette: too many arguments for 'apply'. Expected 1 argument but got 2; see vedette --help",
    ],
  ])('%j', async (args, line) => {
    const env = { AGENT_HEALTH_PORT: '0' };
    const { code, stdout, stderr } = await run(args, env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `${line}\n` });
    expect(stdout).toBe('');
  });

  it('without a command, the help is on stderr', async () => {
    const { code, stdout, stderr } = await run([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Usage: vedette [options] [command]');
  });

  it('names an id that no check has', async () => {
    const { code, stderr } = await run(['run', fileOf(`checks: [${TCP}]`), '--check', 'b']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'vedette: no check has the id "b"\n',
    });
  });

  it.each([
    ['agent', {}, /^vedette: neither SERVICE_URL nor CHECKS_FILE is set: .*\n$/],
    [
      'agent',
      { CHECKS_FILE: 'x', JOB_CONCURRENCY: 'many' },
      /^vedette: JOB_CONCURRENCY is "many"; it must be .*\n$/,
    ],
    [
      'up',
      { SHUTDOWN_GRACE_SECONDS: '-1' },
      /^vedette: SHUTDOWN_GRACE_SECONDS is "-1"; it must be .*\n$/,
    ],
    [
      'agent',
      { CHECKS_FILE: 'x', LOG_LEVL: 'info' },
      /^vedette: "LOG_LEVL" is not a variable of Vedette; did you mean LOG_LEVEL\?.*\n$/,
    ],
    [
      'agent',
      { CHECKS_FILE: 'x', API_KEY: 'pl_0' },
      /^vedette: API_KEY is set, which is for an agent of a service: .*\n$/,
    ],
  ])('%s with %j ends with one line', async (command, env, line) => {
    const { code, stdout, stderr } = await run([command], env);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(line);
  });
});

describe('the program as it is shipped', () => {
  it('starts, and reports an error by one line and its exit code', async () => {
    const { code, stdout, stderr } = await runCli(['run', '/no/such/file'], { LOG_LEVEL: 'info' });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'vedette: /no/such/file: there is no such file\n',
    });
  });
});

describe('help', () => {
  it.each([
    ...[
      'run',
      'init',
      'validate',
      'import',
      'agent',
      'up',
      'apply',
      'trigger',
      'status',
      'history',
      'explain',
      'completion',
    ],
    'service',
  ])('of %s has an example', async (command) => {
    const { code, stdout, stderr } = await run(['help', command]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Examples?:\n {2}\$ .*vedette/);
  });

  it('of agent lists its variables', async () => {
    const { stdout } = await run(['help', 'agent']);
    expect(stdout).toMatch(/^ {2}CHECKS_FILE +\S/m);
    expect(stdout).toMatch(/^ {2}JOB_CONCURRENCY .* Default 100\.$/m);
    expect((await run(['agent', '--help'])).stdout).toBe(stdout);
  });

  it.each([
    [
      'run',
      [
        ...['LOG_LEVEL', 'JOB_CONCURRENCY', 'TARGET_DENY', 'CONNECTIVITY_CHECK'],
        ...['VARIABLES_FROM_ENV', 'VARIABLES_DIR', 'VARIABLE_TARGETS'],
        ...['EXECUTE_SCRIPTS', 'SCRIPT_WORKERS', 'NODE_EXTRA_CA_CERTS'],
        ...['SERVICE_URL', 'API_KEY', 'API_KEY_FILE', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'],
      ],
    ],
    [
      'up',
      [
        ...['PORT', 'HOST', 'AGENT_HEALTH_PORT', 'AGENT_HEALTH_HOST'],
        ...['DATABASE_URL', 'LOG_LEVEL', 'SHUTDOWN_GRACE_SECONDS'],
      ],
    ],
  ])('of %s lists its own variables and no others', async (command, names) => {
    const { stdout } = await run(['help', command]);
    const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) +\S/gm)].map(([, name]) => name);
    expect(listed).toEqual(names);
    expect(stdout).toMatch(/^ {2}LOG_LEVEL .* Default warn\.$/m);
  });

  it.each(['status', 'history', 'explain'])(
    'of %s lists how it reaches the service',
    async (command) => {
      const { stdout } = await run(['help', command]);
      const listed = [...stdout.matchAll(/^ {2}([A-Z_]+) +\S/gm)].map(([, name]) => name);
      const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
      expect(listed).toEqual(['SERVICE_URL', 'API_KEY', 'API_KEY_FILE', ...proxies]);
      expect(stdout).toContain('with the role read.');
    },
  );

  it('shows a check file that is valid', async () => {
    const { stdout } = await run(['--help']);
    const example = /^ {2}checks:\n(?: {4,}.*\n)+/m.exec(stdout)?.[0] ?? '';
    const validated = await run(['validate', fileOf(example.replace(/^ {2}/gm, ''))]);
    expect(validated.stdout).toContain('1 check, no problems');
  });

  it('and version exit with 0', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await run(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('vedette validate', () => {
  it('finds no problems in the sample', async () => {
    const { code, stdout, stderr } = await run(['validate', 'vedette.yaml']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^vedette\.yaml: \d+ checks, 2 status services, 1 status page, no problems\n$/,
    );
  });

  it('finds shop.yaml of src/service/README.md valid as that document says, also with the added maintenance', async () => {
    const [, section = ''] = readDocument('src/service/README.md').split(
      '\n## From nothing to a status page\n',
    );
    const [, shop = ''] = /Write `shop\.yaml`:\n\n```yaml\n(.*?)^```$/ms.exec(section) ?? [];
    const [, maintenance = ''] = /```yaml\n(maintenanceWindows:\n.*?)^```$/ms.exec(section) ?? [];
    const [, said = ''] = /^npx vedette validate shop\.yaml +# (.*)$/m.exec(section) ?? [];
    expect(said).toMatch(/, no problems$/);
    const file = fileOf(shop);
    const ended = { code: 0, stderr: '' };
    const printed = { ...ended, stdout: `${file}: ${said}\n` };
    expect(await run(['validate', file])).toEqual(printed);
    const [, address = ''] = /http:\/\/127\.0\.0\.1:8080\/status\/([\w-]+)/.exec(section) ?? [];
    expect(shop).toContain(`    url: ${address}\n`);
    expect(maintenance).not.toBe('');
    const more = await run(['validate', fileOf(`${shop}\n${maintenance}`)]);
    expect(more).toMatchObject(ended);
    expect(more.stdout).toContain('1 maintenance window');
  });

  it('lists every problem with line and column, without control characters for the terminal', async () => {
    const file = fileOf(
      `checks:\n  - { id: x, checkType: TCP, request: { hostname: h, prot: 1 }, "\\e[2J": 1 }\n  - ${TCP}\n  - { id: y }\n`,
    );
    const { code, stdout, stderr } = await run(['validate', file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `${file}:2:39: checks[0].request.port of check "x" is missing; it must be a whole number from 1 to 65535`,
      `${file}:2:54: checks[0].request.prot of check "x" is not a known key; did you mean port?`,
      expect.stringContaining(
        `${file}:2:65: checks[0]["\\u001b[2J"] of check "x" is not a known key`,
      ),
      `${file}:4:5: checks[2].checkType of check "y" is missing; it must be one of URL, API, TCP, DNS, ICMP`,
      '',
    ]);
  });

  it('notes the names that the file leaves to the agent, which is no problem', async () => {
    const url = (id: string, text: string, variables = '[]') =>
      `  - { id: ${id}, checkType: URL, variables: ${variables}, request: { url: "http://h/${text}" } }\n`;
    const own = '[{ key: OWN, value: x }]';
    const checks = (list: string) => `variables: [{ key: SHARED, value: x }]\nchecks:\n${list}`;
    const [given, left] = [
      fileOf(checks(url('a', '{{SHARED}}/{{{OWN}}}', own))),
      // The variables of one check do not count for the others.
      fileOf(checks(url('a', '{{OWN}}', own) + url('b', '{{B}}/{{{OWN}}}/{{B}}'))),
    ];
    expect(await run(['validate', given])).toEqual({
      code: 0,
      stdout: `${given}: 1 check, no problems\n`,
      stderr: '',
    });
    expect(await run(['validate', left])).toEqual({
      code: 0,
      stdout: `${left}: 2 checks, no problems\n${left}: note: the values of B, OWN must come from the agent (VARIABLES_FROM_ENV, VARIABLES_DIR), from the account, or with vedette run --env-file\n`,
      stderr: '',
    });
    const names = Array.from({ length: 25 }, (_, n) => `{{V${n}}}`).join('');
    const many = await run(['validate', fileOf(checks(url('a', names)))]);
    expect(many.stdout).toMatch(
      /: note: the values of V0, .*V19 and 5 more must come from the agent/,
    );
  });

  it('reads a long file in a thread of its own', async () => {
    const checks = Array.from(
      { length: 1000 },
      (_, n) => `  - ${TCP.replace('id: a', `id: c${n}`)}\n`,
    );
    const file = fileOf(`checks:\n${checks.join('')}  - { id: x }\n`);
    const invalid = await runCli(['validate', file]);
    expect(invalid.code).toBe(2);
    expect(invalid.stdout).toMatch(/:1002:5: checks\[1000\]\.checkType of check "x" is missing/);
  });

  it.each([
    ['is not UTF-8 text', Buffer.from([0x63, 0xff, 0xfe])],
    ['is larger than 32 MiB', Buffer.alloc(32 * 1024 * 1024 + 1, '#')],
  ])('says that a file %s', async (problem, bytes) => {
    const file = fileOf(bytes);
    const { code, stdout, stderr } = await run(['validate', file]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `vedette: ${file} ${problem}\n`,
    });
  });

  it('says that a file needs too much memory, and does not crash', async () => {
    const checks = Array.from(
      { length: 6000 },
      (_, n) => `  - ${TCP.replace('id: a', `id: c${n}`)}\n`,
    );
    const file = fileOf(`checks:\n${checks.join('')}`);
    const env = { NODE_OPTIONS: '--max-old-space-size=30' };
    const { code, stderr } = await runCli(['validate', file], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^vedette: .*: reading it takes more memory than this process may use/);
  });
});

describe('a file with problems', () => {
  it('ends run and agent with the first one, on one line', async () => {
    const file = fileOf('checks:\n  - { id: x }\n  - { id: y }\n');
    const first = `vedette: ${file}:2:5: checks[0].checkType of check "x" is missing; it must be one of URL, API, TCP, DNS, ICMP (and 1 more problem); to see them all: vedette validate ${file}\n`;
    expect(await run(['run', file])).toMatchObject({ code: 2, stdout: '', stderr: first });
    const agent = await run(['agent'], {
      CHECKS_FILE: file,
      AGENT_HEALTH_PORT: '0',
      LOG_LEVEL: 'error',
    });
    expect(agent).toMatchObject({ code: 2, stdout: '', stderr: first });
  });

  it('shows a stack only where it is asked for', async () => {
    const file = fileOf('checks: 1');
    expect((await run(['run', file])).stderr).not.toMatch(/\n\s+at /);
    expect((await run(['run', file], { LOG_LEVEL: 'debug' })).stderr).toMatch(/\n\s+at /);
    const { stderr } = await run(['run', '/no/\u001b[2J\u009b'], { LOG_LEVEL: 'debug' });
    expect(stderr).toMatch(/\n\s+at /);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).not.toContain('\u009b');
  });
});
