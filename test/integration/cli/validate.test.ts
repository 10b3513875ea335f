import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../support/agent/cli.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const IDLE = `defaults:
  doubleCheck: false
  retryStrategy: { type: SINGLE_RETRY, maxRetries: 5 }
  request: { pingCount: 3, skipSSL: true }
checks:
  - id: home
    checkType: URL
    alertSettings: { escalationType: TIME_BASED }
    request: { url: "https://e.test/" }
  - { id: name, checkType: DNS, runParallel: true, groupOrder: 2, request: { query: e.test, dohPath: /q } }
heartbeats:
  - id: backup
    useGlobalAlertSettings: false
    alertSettings: { reminders: { interval: 10 } }
    heartbeat: { period: 1, periodUnit: DAYS, grace: 2, graceUnit: HOURS }
maintenanceWindows:
  - { id: w, startsAt: 2030-01-01, endsAt: 2030-01-02, repeatUnit: DAY, pauseAllChecks: true, tags: [a] }
`;
const USED = `defaults:
  doubleCheck: false
checks:
  - { id: a, checkType: URL, retryStrategy: { type: FIXED, maxRetries: 5 }, request: { url: "https://e.test/" } }
  - id: b
    checkType: URL
    runParallel: true
    privateLocations: [north, south]
    useGlobalAlertSettings: false
    alertSettings: { escalationType: RUN_BASED, runBasedEscalation: { failedRunThreshold: 2 } }
    request: { url: "https://e.test/", skipSSL: true }
`;

describe('vedette validate', () => {
  let fileOf = (_name: string, _text: string): string => '';
  beforeEach(() => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    fileOf = (name, text) => {
      writeFileSync(folder.file(name), text);
      return folder.file(name);
    };
  });

  it('names the secrets that only vedette apply fills in', async () => {
    const file = fileOf(
      'hook.yaml',
      'alertChannels: [{ id: h, type: SLACK, config: { url: "https://chat.example/{{PATH}}" } }]\n',
    );
    const { code, stdout } = await runHere(['validate', file]);
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        `${file}: 1 alert channel, no problems`,
        `${file}: note: {{PATH}} in alert channels or secret variables of the file: only vedette apply --env-file gives values to them`,
        '',
      ],
    });
  });

  it('names each setting that has no effect, with its position and why, which is no problem', async () => {
    const file = fileOf('idle.yaml', IDLE);
    const { code, stdout, stderr } = await runHere(['validate', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first = '', ...lines] = stdout.trimEnd().split('\n');
    expect(first).toBe(`${file}: 2 checks, 1 heartbeat, 1 maintenance window, no problems`);
    expect(lines.map((line) => line.replace(`${file}:`, ''))).toEqual([
      '2:3: defaults.doubleCheck has no effect: retryStrategy decides about retries',
      '3:40: defaults.retryStrategy.maxRetries has no effect: the type SINGLE_RETRY makes one retry',
      '4:14: defaults.request.pingCount has no effect: every check sets it itself, or is of a type that does not have it',
      '8:5: checks[0].alertSettings of check "home" has no effect: useGlobalAlertSettings is true, its default, so those of the account apply; set it to false',
      '10:33: checks[1].runParallel of check "name" has no effect: the check has no second location',
      '10:52: checks[1].groupOrder of check "name" has no effect: the check has no group',
      '10:93: checks[1].request.dohPath of check "name" has no effect: the protocol is not DOH',
      '14:35: heartbeats[0].alertSettings.reminders.interval of heartbeat "backup" has no effect: the amount of reminders is 0, its default',
      '17:95: maintenanceWindows[0].tags of maintenance window "w" has no effect: pauseAllChecks is true',
    ]);
  });

  it('names shouldFail beside an assertion that decides which statuses pass', async () => {
    const file = fileOf(
      'statuses.yaml',
      `checks:
  - id: home
    checkType: URL
    shouldFail: true
    request:
      url: "https://e.test/"
      assertions: [{ source: STATUS_CODE, comparison: ONE_OF, target: "200-299, 404" }]
`,
    );
    const { code, stdout } = await runHere(['validate', file]);
    expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: [
        `${file}: 1 check, no problems`,
        `${file}:4:5: checks[0].shouldFail of check "home" has no effect: an assertion STATUS_CODE ONE_OF decides which statuses pass`,
      ],
    });
  });

  it('names ids that a service refuses for new checks, which is no problem', async () => {
    const file = fileOf(
      'checks.yaml',
      'checks: [{ id: tcp, checkType: TCP, request: { hostname: a.test, port: 1 } }]',
    );
    const { code, stdout } = await runHere(['validate', file]);
    expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: [
        `${file}: 1 check, no problems`,
        `${file}: note: a service refuses new checks and heartbeats with the id tcp, which is a path of its API: choose another, for example tcp-check`,
      ],
    });
  });

  it('names no setting that a check uses', async () => {
    const file = fileOf('used.yaml', USED);
    expect(await runHere(['validate', file])).toEqual({
      code: 0,
      stdout: `${file}: 2 checks, no problems\n`,
      stderr: '',
    });
  });

  it('accepts several files, and continues after one that is missing or has problems', async () => {
    const [good, bad] = [fileOf('good.yaml', USED), fileOf('bad.json', '{ "checks": [{}] }')];
    const { code, stdout, stderr } = await runHere(['validate', '/no/such', bad, good]);
    expect(code).toBe(2);
    expect(stderr).toBe('vedette: /no/such: there is no such file\n');
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringContaining(`${bad}:1:14: checks[0].id is missing`),
      expect.stringContaining(`${bad}:1:14: checks[0].checkType is missing`),
      `${good}: 2 checks, no problems`,
    ]);
    expect((await runHere(['validate', good, good])).code).toBe(0);
  });
});
