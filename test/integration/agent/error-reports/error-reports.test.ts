import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { discardReports } from '../../../../src/agent/error-reports/error-reports.ts';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { PATHS } from '../../../../src/wire/v1/limits.ts';
import { errorsOfKinds, reportsFixture } from '../../../support/agent/reports-fixture.ts';
import { failing, reset } from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';
import { settle } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe('errors of the agent', () => {
  it('are reported after 5 s, each kind once with its count', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    const fault = () => {
      const error = new VedetteError('internal', 'SPOOL_FULL', 'of https://a.example.com');
      // A fixed stack, because the real one differs before and after a wait.
      error.stack = 'VedetteError: of https://a.example.com\n    at run (node:fs:1:2)';
      return error;
    };
    const firstAt = clock.wallMs();
    run();
    for (let n = 0; n < 3; n += 1) reports.note(fault());
    await due();
    await clock.advance(2_000);
    reports.note(fault());
    reports.note(new TypeError('another'));
    await clock.advance(2_999);
    expect(service.errors).toEqual([]);
    await clock.advance(1);
    await eventually(() => service.errors.length > 0);
    expect(service.errors).toEqual([
      {
        agentId: 'agent-1',
        version: '1.2.3',
        node: process.version,
        platform: process.platform,
        arch: process.arch,
        reports: [
          {
            class: 'VedetteError',
            code: 'SPOOL_FULL',
            stack: [{ function: null, file: 'node:fs', line: 1, column: 2 }],
            count: 4,
            firstAt,
            lastAt: firstAt + 2_000,
          },
          expect.objectContaining({ class: 'TypeError', code: null, count: 1 }),
        ],
      },
    ]);
  });

  it('are reported with where they were thrown', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    run();
    // The function fails where it destructures its argument.
    expect(() => discardReports(null as never)).toThrow();
    try {
      discardReports(null as never);
    } catch (error) {
      reports.note(error);
    }
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length > 0);
    const [frame] = service.errors[0]?.reports[0]?.stack ?? [];
    expect(frame).toMatchObject({
      function: expect.stringMatching(/discardReports$/),
      file: 'src/agent/error-reports/disabled-reports.ts',
    });
  });

  it('count once when they are logged twice', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    run();
    const error = new TypeError('no');
    reports.note(error);
    reports.note(error);
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length > 0);
    expect(service.errors[0]?.reports[0]?.count).toBe(1);
  });

  it.each([
    ['a string', 'hunter2'],
    ['nothing', undefined],
    [
      'an object',
      {
        stack: 7,
        code: 'x',
        get message() {
          throw new Error('no');
        },
      },
    ],
  ])('may be %s', async (_what, thrown) => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    run();
    reports.note(thrown);
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length > 0);
    expect(service.errors[0]?.reports).toMatchObject([
      { class: 'NotAnError', code: null, stack: [], count: 1 },
    ]);
  });

  it('are left out if reading them throws', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, records } = start();
    run();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    reports.note(proxy);
    reports.recordCrash(proxy);
    await clock.advance(10 * MINUTE_MS);
    expect(service.errors).toEqual([]);
    expect(records().map(({ level }) => level)).toEqual(['debug', 'debug']);
  });

  it('are reported once a minute, a hundred kinds at a time', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due, idle } = start();
    run();
    for (const error of errorsOfKinds(130)) reports.note(error);
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
    for (const error of errorsOfKinds(3)) reports.note(error);
    await due();
    await clock.advance(MINUTE_MS - 1);
    expect(service.errors.map(({ reports: sent }) => sent.length)).toEqual([100]);
    await clock.advance(1);
    await eventually(() => service.errors.length === 2);
    expect(service.errors.map(({ reports: sent }) => sent.length)).toEqual([100, 3]);
    await idle();
    await clock.advance(HOUR_MS);
    // Accepted reports are removed.
    expect(service.count(PATHS.errors)).toBe(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are limited to 240 reports an hour', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, records, due } = start();
    run();
    const endless = errorsOfKinds(3_000);
    for (let minute = 0; minute < 59; minute += 1) {
      for (const error of endless.splice(0, 40)) reports.note(error);
      const sent = service.errors.length;
      await due();
      await clock.advance(MINUTE_MS);
      if (minute < 6) await eventually(() => service.errors.length > sent);
    }
    await due();
    const sent = service.errors.flatMap(({ reports: some }) => some).length;
    expect(sent).toBe(240);
    await clock.advance(5 * MINUTE_MS);
    await eventually(() => service.errors.flatMap(({ reports: some }) => some).length > 240);
    expect(records()).toContainEqual(
      expect.objectContaining({ level: 'debug', errors: expect.any(Number) }),
    );
  });

  it.each([
    ['is busy', failing(503)],
    ['fails', failing(500)],
    ['does not take the key', failing(401)],
    ['is of another release', failing(426)],
    ['is away', reset],
  ])('wait where the service %s, and count on', async (_what, script) => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    service.next(PATHS.errors, script);
    run();
    reports.note(errorsOfKinds(1)[0]);
    await due();
    await clock.advance(5_000);
    await eventually(() => service.count(PATHS.errors) === 1);
    await due();
    reports.note(errorsOfKinds(1)[0]);
    await clock.advance(MINUTE_MS - 1);
    expect(service.count(PATHS.errors)).toBe(1);
    await clock.advance(1);
    await eventually(() => service.errors.length > 0);
    expect(service.errors[0]?.reports).toMatchObject([{ count: 2 }]);
  });

  it('wait where the service does not know the agent yet', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due } = start();
    const unknown = failing(409, 'not yet', {}, { reason: 'unknown_agent' });
    service.next(PATHS.errors, unknown);
    run();
    reports.note(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => service.count(PATHS.errors) === 1);
    await due();
    await clock.advance(MINUTE_MS);
    await eventually(() => service.errors.length > 0);
    expect(service.errors[0]?.reports).toMatchObject([{ class: 'TypeError', count: 1 }]);
  });

  it('wait for the time that the service requests', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, records, due } = start();
    service.next(PATHS.errors, failing(503, 'later', { 'retry-after': '600' }));
    run();
    reports.note(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => records().length > 0);
    await due();
    await clock.advance(599_000);
    expect(service.count(PATHS.errors)).toBe(1);
    await clock.advance(1_000);
    await eventually(() => service.errors.length > 0);
  });

  it('are dropped where the service refuses them', async () => {
    const { service, start } = await reportsFixture();
    const { clock, reports, run, due, idle } = start();
    service.next(PATHS.errors, failing(400));
    run();
    reports.note(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => service.count(PATHS.errors) === 1);
    await idle();
    await clock.advance(HOUR_MS);
    expect(service.count(PATHS.errors)).toBe(1);
  });

  it('are reported at the end if they still wait', async () => {
    const { service, start } = await reportsFixture();
    const { reports, run, drain, clock } = start();
    run();
    for (const error of errorsOfKinds(2)) reports.note(error);
    await drain();
    expect(service.errors[0]?.reports).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are sent again at the end where their request was interrupted', async () => {
    const { service, start } = await reportsFixture();
    const { reports, run, drain, clock, due } = start();
    service.next(PATHS.errors, () => {});
    run();
    reports.note(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => service.seen.length === 1);
    await drain();
    expect(service.errors).toHaveLength(1);
  });

  it('delay the end by 2 s at most', async () => {
    const { service, start } = await reportsFixture();
    const { reports, run, drain, clock } = start();
    service.next(PATHS.errors, () => {});
    run();
    reports.note(new TypeError('no'));
    const drained = drain();
    await eventually(() => service.seen.length === 1);
    await clock.advance(2_000);
    await drained;
    expect(clock.pendingTimers).toBe(0);
  });

  it('do not delay the end if the last attempt failed', async () => {
    const { service, start } = await reportsFixture();
    const { reports, run, drain, clock, records, due } = start();
    service.next(PATHS.errors, reset);
    run();
    reports.note(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => records().length > 0);
    await drain();
    expect(service.seen).toHaveLength(1);
  });
});

describe('an error that ends the process', () => {
  it('is reported by the next process, before other errors', async () => {
    const { service, start, file } = await reportsFixture();
    const crashed = start({ version: '1.0.0' });
    crashed.run();
    const error = new VedetteError('internal', 'SCHEDULER_LOST', 'of https://a.example.com');
    crashed.reports.recordCrash(error);
    // It is logged as well.
    crashed.reports.note(error);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('example');
    await crashed.stop();

    const next = start({ version: '2.0.0' });
    next.reports.note(new TypeError('no'));
    next.run();
    await next.due();
    await next.clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
    await next.due();
    expect(existsSync(file)).toBe(false);
    await next.clock.advance(MINUTE_MS);
    await eventually(() => service.errors.length === 2);
    expect(service.errors.map(({ version, reports }) => [version, reports[0]?.code])).toEqual([
      ['1.0.0', 'SCHEDULER_LOST'],
      ['2.0.0', null],
    ]);
    expect(service.errors[0]?.reports).toHaveLength(1);
  });

  it('is one report, however many processes it ended', async () => {
    const { service, start, file } = await reportsFixture();
    for (let n = 0; n < 3; n += 1) start().reports.recordCrash(errorsOfKinds(1)[0]);
    const next = start();
    next.run();
    await next.due();
    await next.clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
    expect(service.errors[0]?.reports).toMatchObject([{ class: 'RangeError', count: 3 }]);
    await eventually(() => !existsSync(file));
  });

  it('is saved for the last 20 kinds', async () => {
    const { start, file } = await reportsFixture();
    for (const error of errorsOfKinds(25)) start().reports.recordCrash(error);
    const { crashes } = JSON.parse(readFileSync(file, 'utf8'));
    const lines = crashes.map((crash: { report: { stack: { line: number }[] } }) =>
      crash.report.stack.map(({ line }) => line),
    );
    expect(lines).toEqual(Array.from({ length: 20 }, (_, n) => [n + 6]));
  });

  it('is reported before the end where there is time for it, and then not again', async () => {
    const { service, start, file } = await reportsFixture();
    const crashed = start();
    crashed.run();
    await eventually(() => !existsSync(file));
    crashed.reports.recordCrash(new TypeError('no'));
    expect(existsSync(file)).toBe(true);
    await crashed.drain();
    expect(service.errors).toHaveLength(1);
    expect(existsSync(file)).toBe(false);
    const next = start();
    next.run();
    await next.clock.advance(HOUR_MS);
    await next.drain();
    expect(service.errors).toHaveLength(1);
  });

  it('is reported by the next process where the service did not take it before the end', async () => {
    const { service, start, file } = await reportsFixture();
    service.next(PATHS.errors, failing(503));
    const crashed = start();
    crashed.run();
    await settle();
    crashed.reports.recordCrash(new TypeError('no'));
    await crashed.drain();
    expect(service.count(PATHS.errors)).toBe(1);
    expect(existsSync(file)).toBe(true);
    const next = start();
    next.run();
    await next.due();
    await next.clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
  });

  it.each([0, 1, 2, 3, 5, 8])(
    'is on disk although a file is being removed, begun %d iterations of the event loop before',
    async (turns) => {
      const { service, start, file } = await reportsFixture();
      writeFileSync(file, 'damaged');
      service.next(PATHS.errors, failing(503));
      const crashed = start();
      crashed.run();
      for (let turn = 0; turn < turns; turn += 1) await new Promise((next) => setImmediate(next));
      crashed.reports.recordCrash(new TypeError('no'));
      await crashed.drain();
      expect(JSON.parse(readFileSync(file, 'utf8')).crashes).toHaveLength(1);
    },
  );

  it('is not reported again if it was reported when it was logged', async () => {
    const { service, start, file } = await reportsFixture();
    const { clock, reports, run, due } = start();
    run();
    const error = new TypeError('no');
    reports.note(error);
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
    reports.recordCrash(error);
    expect(existsSync(file)).toBe(false);
  });

  it('is on disk once if it was logged before it ended the process', async () => {
    const { service, start } = await reportsFixture();
    const { reports, run, drain } = start();
    const error = new TypeError('no');
    reports.note(error);
    reports.recordCrash(error);
    run();
    await settle();
    await drain();
    expect(service.errors.map(({ reports: sent }) => sent.map(({ count }) => count))).toEqual([
      [1],
    ]);
  });

  it('is in memory without DATA_DIR, and reported before the end', async () => {
    const { service, start, folder } = await reportsFixture();
    const { reports, run, drain } = start({ dataDir: null });
    run();
    const error = new TypeError('no');
    reports.recordCrash(error);
    reports.note(error);
    await drain();
    expect(service.errors[0]?.reports).toMatchObject([{ count: 1 }]);
    expect(execFileSync('ls', ['-A', folder.path]).toString()).toBe('');
  });

  it.each([
    ['is no JSON', (file: string) => writeFileSync(file, '{"format":1,"crashes":[{')],
    ['is of another form', (file: string) => writeFileSync(file, '{"format":1,"crashes":[{}]}')],
    ['is empty', (file: string) => writeFileSync(file, '')],
    ['is too long', (file: string) => writeFileSync(file, `[${' '.repeat(2 ** 20)}]`)],
    ['is a pipe', (file: string) => void execFileSync('mkfifo', [file])],
  ])('is removed where its file %s', async (_what, damage) => {
    const { service, start, file } = await reportsFixture();
    damage(file);
    const { clock, run, records, reports, due } = start();
    run();
    await eventually(() => !existsSync(file));
    expect(records()).toMatchObject([{ level: 'debug', file }]);
    await clock.advance(HOUR_MS);
    expect(service.seen).toEqual([]);
    damage(file);
    reports.recordCrash(new TypeError('no'));
    await due();
    await clock.advance(5_000);
    await eventually(() => service.errors.length === 1);
  });

  it('is reported where it cannot be saved to disk', async () => {
    const { service, start, file } = await reportsFixture();
    mkdirSync(file);
    writeFileSync(`${file}/x`, '');
    const { run, reports, drain } = start();
    run();
    await settle();
    reports.recordCrash(new TypeError('no'));
    await drain();
    expect(service.errors).toHaveLength(1);
  });

  it('creates a missing DATA_DIR', async () => {
    const { start, folder } = await reportsFixture();
    const dataDir = folder.file('later');
    start({ dataDir }).reports.recordCrash(new TypeError('no'));
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    chmodSync(dataDir, 0o700);
    expect(existsSync(`${dataDir}/crash-reports.json`)).toBe(true);
  });
});

describe('EXTERNAL_OBSERVABILITY=off', () => {
  it('sends nothing, writes nothing, and removes what was left (trust model SN15)', async () => {
    const { service, start, file, folder } = await reportsFixture();
    start().reports.recordCrash(new TypeError('no'));
    expect(existsSync(file)).toBe(true);
    const { log } = captureLog();
    const { clock, reports, run, drain } = start({
      reportsOf: ({ dataDir }) => discardReports({ dataDir, log }),
    });
    run();
    reports.note(new TypeError('no'));
    await eventually(() => !existsSync(file));
    reports.recordCrash(new TypeError('no'));
    await clock.advance(HOUR_MS);
    await drain();
    expect(service.seen).toEqual([]);
    expect(execFileSync('ls', ['-A', folder.path]).toString()).toBe('');
  });
});
