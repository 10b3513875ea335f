import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const CI = join(import.meta.dirname, '../../../.ci');
const ROOT = join(CI, '..');
const NAMES = ['test', 'lts', 'system', 'containers', 'browser', 'break', 'bench'];
const LAST = { 'npm test': 100, 'system tests': 200, 'break tests': 100, 'in all': 400 };
const FILE = 'test/system/icmp.test.ts';

interface Test {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'pending';
  readonly message?: string;
}

/**
 * @param hook the error of a hook whose failure skipped its tests
 * @param seconds how long the file took
 */
function reportOf(tests: readonly Test[], hook = '', seconds = 1) {
  const hasFailed = hook !== '' || tests.some(({ status }) => status === 'failed');
  return {
    testResults: [
      {
        name: join(ROOT, FILE),
        status: hasFailed ? 'failed' : 'passed',
        message: hook,
        startTime: 1_000,
        endTime: 1_000 + seconds * 1000,
        assertionResults: tests.map(({ name, status, message = 'AssertionError: 1 is not 2' }) => ({
          fullName: name,
          status,
          failureMessages: [`${message}\n    at somewhere`],
        })),
      },
    ],
  };
}

const PASSED = reportOf([
  { name: 'a passes', status: 'passed' },
  { name: "b's (last) fails", status: 'passed' },
]);
const FAILED = reportOf([
  { name: 'a passes', status: 'passed' },
  { name: "b's (last) fails", status: 'failed' },
]);
const HOOK_FAILED = reportOf([{ name: 'a passes', status: 'pending' }], 'Error: no port');

/** The report of a run in which every part passed, but for `reports`; a null report is not there. */
function report(
  reports: Readonly<Record<string, object | null>> = {},
  parts: readonly (readonly [name: string, seconds: number, status: number])[] = [
    ['npm test', 50, 0],
    ['system tests', 100, 0],
    ['break tests', 50, 0],
  ],
  {
    options = [] as readonly string[],
    folder = makeTestFolder(),
    settings = {} as Readonly<Record<string, string>>,
  } = {},
): { readonly code: number | null; readonly text: string } {
  writeFileSync(
    join(folder, 'parts.tsv'),
    parts.map((part) => `${part.join('\t')}\t87\n`).join(''),
  );
  writeFileSync(join(folder, 'last.json'), JSON.stringify(LAST));
  const all = { ...Object.fromEntries(NAMES.map((name) => [name, PASSED])), ...reports };
  for (const [name, one] of Object.entries(all)) {
    if (one !== null) writeFileSync(join(folder, `${name}.json`), JSON.stringify(one));
  }
  const env = {
    PATH: process.env.PATH,
    CI: 'true',
    FUZZ_SEED: '7',
    LAST_TIMES: join(folder, 'last.json'),
    LONG_FILES: join(folder, 'long.json'),
    ...settings,
  };
  const args = [join(CI, 'report.mjs'), folder, ...options];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  return { code: status, text: stdout };
}

describe('the report of a run of CI', () => {
  it('ends with the count of tests, and says how long each part took and how busy it kept the cores', () => {
    const { code, text } = report();
    expect(code).toBe(0);
    expect(text).toMatch(/\n14 passed, 0 failed\n$/);
    expect(text).toContain('   50 s  npm test (last 100 s; cores 87 % busy)\n');
    expect(text).toContain('  200 s  in all (last 400 s)\n');
    expect(text).not.toMatch(/Failed|Flaky|twice/);
  });

  it('counts parts that ran side by side once', () => {
    const { text } = report({}, undefined, { settings: { WHOLE_SECONDS: '160' } });
    expect(text).toContain('  160 s  in all (last 400 s)\n');
  });

  it('says that a test ran into the time limit', () => {
    const timedOut = reportOf([
      { name: 'a waits', status: 'failed', message: 'Error: STACK_TRACE_ERROR' },
    ]);
    const { text } = report({ system: timedOut });
    expect(text).toContain('  a waits\n    Error: the time limit ended it\n');
  });

  it('names a failed test, its file, its reason, and the command that runs it alone', () => {
    const { code, text } = report({ system: FAILED });
    expect(code).toBe(1);
    expect(text).toContain(
      [
        "  b's (last) fails",
        '    AssertionError: 1 is not 2',
        `    CI=true FUZZ_SEED=7 npx vitest run ${FILE} -t 'b'\\''s \\(last\\) fails'`,
      ].join('\n'),
    );
    expect(text).toMatch(/\n13 passed, 1 failed\n$/);
  });

  it('lists a test that failed once and passed when repeated as flaky, and passes', () => {
    const { code, text } = report({ system: FAILED, 'system.again': PASSED });
    expect(code).toBe(0);
    expect(text).toMatch(/Flaky: [^\n]+\n {2}b's \(last\) fails\n/);
    expect(text).toMatch(/\n14 passed, 0 failed\n$/);
  });

  it('takes the repeated run of a file in which a hook failed', () => {
    const { code, text } = report({ system: HOOK_FAILED, 'system.again': PASSED });
    expect(code).toBe(0);
    expect(text).toContain(`  ${FILE} as a whole\n    Error: no port\n`);
    expect(text).toMatch(/\n14 passed, 0 failed\n$/);
  });

  it('fails where a test failed twice', () => {
    const { code, text } = report({ break: FAILED, 'break.again': FAILED });
    expect(code).toBe(1);
    expect(text).not.toContain('Flaky');
    expect(text).toMatch(/, 1 failed\n$/);
  });

  it.each([
    ['a test was skipped', { test: reportOf([{ name: 'a', status: 'pending' }]) }],
    ['a part ended before it could report', { lts: null }],
    ['a hook failed', { system: HOOK_FAILED }],
  ])('fails where %s', (_what, reports) => {
    const { code, text } = report(reports);
    expect(code).toBe(1);
    expect(text).toMatch(/, 1 failed\n$/);
  });

  it('names each test that was skipped, and in which part', () => {
    const { text } = report({ lts: reportOf([{ name: 'a real socket', status: 'pending' }]) });
    expect(text).toMatch(
      /Skipped, [^\n]*:\n {2}a real socket \(test\/system\/icmp\.test\.ts, part lts\)\n/,
    );
    expect(text).toMatch(/, 1 failed\n$/);
  });

  it('shows errors outside of any test, each once', () => {
    const folder = makeTestFolder();
    writeFileSync(join(folder, 'system.json.unhandled'), 'no port\nno port\nno name\n');
    const { code, text } = report({}, [['system tests', 100, 1]], { folder });
    expect(code).toBe(1);
    expect(text).toContain('\nErrors outside of any test:\n  no port\n  no name\n');
  });

  it('fails where a part failed outside of its tests, and names it', () => {
    const { code, text } = report({}, [['npm run verify', 20, 1]]);
    expect(code).toBe(1);
    expect(text).toContain('Failed parts:\n  npm run verify\n');
    expect(text).toMatch(/, 1 failed\n$/);
  });

  it('names a part that takes twice its share of the last run', () => {
    const { text } = report({}, [
      ['npm test', 100, 0],
      ['system tests', 100, 0],
      ['break tests', 200, 0],
    ]);
    expect(text).toMatch(/twice their share[^\n]*\n {2}break tests: 200 s, last 100 s of 400 s\n/);
    expect(text).not.toContain('  npm test: ');
  });

  it('records how long each part and each long test file took', () => {
    const folder = makeTestFolder();
    const long = (seconds: number) => reportOf([{ name: 'a', status: 'passed' }], '', seconds);
    const recorded = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const reports = { test: long(7), system: long(12), lts: long(4) };
    expect(report(reports, [['npm test', 90, 0]], { options: ['--record'], folder }).code).toBe(0);
    expect(recorded('last.json')).toEqual({ 'npm test': 90, 'in all': 90 });
    expect(recorded('long.json')).toEqual({ [FILE]: 12 });
    const none = Object.fromEntries(NAMES.map((name) => [name, long(4)]));
    report(none, [['npm test', 90, 0]], { options: ['--record'], folder });
    expect(recorded('long.json')).toEqual({});
  });

  it('records nothing of a run that failed', () => {
    const folder = makeTestFolder();
    report({ system: FAILED }, [['npm test', 90, 0]], { options: ['--record'], folder });
    expect(JSON.parse(readFileSync(join(folder, 'last.json'), 'utf8'))).toEqual(LAST);
    expect(existsSync(join(folder, 'long.json'))).toBe(false);
  });

  it('gets the files to repeat', () => {
    const file = join(makeTestFolder(), 'system.json');
    writeFileSync(file, JSON.stringify(FAILED));
    const args = [join(CI, 'failed-files.mjs'), file];
    expect(execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })).toBe(`${FILE}\n`);
  });
});
