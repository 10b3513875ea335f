import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckListener, CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { createFileSource, POLL_MS } from '../../../../../src/agent/source/file/file-source.ts';
import { scriptsOf } from '../../../../../src/model/check/scripts.ts';
import { createLogger } from '../../../../../src/runtime/logger.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { createAuthority } from '../../../../support/servers/certificates.ts';

const WORKER = new URL(
  '../../../../../dist/agent/source/file/check-file-worker.js',
  import.meta.url,
);

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vedette-source-'));
  file = join(folder, 'checks.yaml');
});
afterEach(() => rmSync(folder, { recursive: true }));

function text(...ids: string[]): string {
  return `checks:\n${ids.map((id) => `  - { id: ${id}, checkType: TCP, request: { hostname: localhost, port: 1 } }\n`).join('')}`;
}

const ids = (set: CheckSet | undefined): readonly string[] => set?.checks.map(({ id }) => id) ?? [];

/** A source at work, with what it handed over and what it logged. */
async function watching(path = file, runsAlone = false) {
  const clock = new FakeClock();
  const destination = new PassThrough();
  const logged: string[] = [];
  destination.on('data', (line: Buffer) => logged.push(line.toString()));
  const log = createLogger({ level: 'info', destination, format: 'json', clock });
  const source = createFileSource({ file: path, clock, log, workerUrl: WORKER, runsAlone });
  const controller = new AbortController();
  const sets: CheckSet[] = [];
  const listener: CheckListener = {
    onChecks: (set) => void sets.push(set),
    onRun: () => expect.fail('a file asks for no runs beside the plan'),
    onRunCancelled: () => expect.fail('a file cancels no runs'),
    onTrial: () => expect.fail('a file asks for no trials'),
  };
  const done = source.watch(listener, controller.signal);
  const idle = (): Promise<void> => eventually(() => clock.pendingTimers === 1);
  await Promise.race([idle(), done]);
  return {
    sets,
    clock,
    source,
    warnings: () => logged.filter((line) => line.includes('"level":"warn"')),
    /** Looks at the files `times` times. */
    async poll(times = 2): Promise<void> {
      for (let n = 0; n < times; n += 1) {
        await clock.advance(POLL_MS);
        await idle();
      }
    },
    async stop(): Promise<void> {
      controller.abort();
      await done;
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

describe('a check file that is watched', () => {
  it('is passed on once at the start and once after each change', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    expect(watch.sets.map(ids)).toEqual([['a']]);
    expect(watch.sets[0]).toMatchObject({ rotations: new Map(), location: 'local' });
    await watch.poll(3);
    expect(watch.sets).toHaveLength(1);
    writeFileSync(file, text('a', 'b'));
    await watch.poll(3);
    expect(watch.sets.map(ids)).toEqual([['a'], ['a', 'b']]);
    expect(watch.warnings()).toEqual([]);
    await watch.stop();
  });

  it('is passed on with its variables, and again if only these change', async () => {
    const variables = (value: string): string =>
      `variables: [{ key: TOKEN, value: "${value}", secret: true }]\n`;
    writeFileSync(file, variables('one') + text('a'));
    const watch = await watching();
    writeFileSync(file, variables('two') + text('a'));
    await watch.poll();
    expect(watch.sets.map((set) => set.variables)).toEqual([
      [{ key: 'TOKEN', value: 'one', secret: true }],
      [{ key: 'TOKEN', value: 'two', secret: true }],
    ]);
    await watch.stop();
  });

  it('is not read half-written: two consecutive scans must find the same state', async () => {
    writeFileSync(file, text('a', 'b'));
    const watch = await watching();
    writeFileSync(file, text('a'));
    await watch.poll(1);
    writeFileSync(file, text('a', 'b', 'c'));
    await watch.poll(1);
    expect(watch.sets).toHaveLength(1);
    await watch.poll(1);
    expect(watch.sets.map(ids)).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
    await watch.stop();
  });

  it('is read in the end even if it keeps changing', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    for (let n = 1; n <= 12; n += 1) {
      writeFileSync(file, text('a', `b${n}`));
      await watch.poll(1);
    }
    expect(watch.sets.length).toBeGreaterThan(1);
    await watch.stop();
  });

  it('does not disturb the checks when only its form or its time changes', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    writeFileSync(file, `# a comment\n${text('a')}`);
    await watch.poll(3);
    utimesSync(file, new Date(), new Date(1_000_000));
    await watch.poll(3);
    expect(watch.sets).toHaveLength(1);
    await watch.stop();
  });

  it('does not replace the checks in use when it becomes invalid, and each problem is logged once', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    writeFileSync(file, 'checks:\n  - { id: x }\n  - { id: y }\n');
    await watch.poll(5);
    utimesSync(file, new Date(), new Date(1_000_000));
    await watch.poll(5);
    expect(watch.sets).toHaveLength(1);
    const warnings = watch.warnings();
    expect(warnings.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({
        file,
        checks: 1,
        msg: expect.stringMatching(/^the check file cannot be used, .*: checks\[0\]\.checkType/),
      }),
      expect.objectContaining({
        file,
        msg: expect.stringContaining(`${file}:3:5: checks[1].checkType of check`),
      }),
    ]);
    expect(watch.source.checkFileUsable).toBe(false);
    writeFileSync(file, text('b'));
    await watch.poll(2);
    expect(watch.source.checkFileUsable).toBe(true);
    expect(watch.warnings().slice(2)).toEqual([expect.stringContaining('can be used again')]);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b']]);
    await watch.stop();
  });

  it('does not replace the checks in use while it is missing, and is read when it is back', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    rmSync(file);
    await watch.poll(130);
    expect(watch.sets).toHaveLength(1);
    expect(watch.warnings()).toHaveLength(1);
    expect(watch.warnings()[0]).toContain('there is no such file');
    writeFileSync(file, text('b'));
    await watch.poll(2);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b']]);
    await watch.stop();
  });

  it('is logged once as usable again, even if it comes back unchanged', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    expect(watch.source.checkFileUsable).toBe(true);
    renameSync(file, `${file}.away`);
    await watch.poll(3);
    expect(watch.source.checkFileUsable).toBe(false);
    renameSync(`${file}.away`, file);
    await watch.poll(5);
    expect(watch.source.checkFileUsable).toBe(true);
    expect(watch.sets).toHaveLength(1);
    expect(watch.warnings()).toEqual([
      expect.stringContaining(': there is no such file'),
      expect.stringContaining('"msg":"the check file can be used again"'),
    ]);
    await watch.stop();
  });

  it('may become a pipe or a folder without blocking the agent', async () => {
    writeFileSync(file, text('a'));
    const watch = await watching();
    rmSync(file);
    execFileSync('mkfifo', [file]);
    await watch.poll(3);
    expect(watch.warnings().at(-1)).toContain('is not a regular file');
    rmSync(file);
    mkdirSync(file);
    await watch.poll(3);
    expect(watch.warnings().at(-1)).toContain('is a directory, not a check file');
    rmSync(file, { recursive: true });
    writeFileSync(file, text('b'));
    await watch.poll(2);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b']]);
    await watch.stop();
  });

  it('may be replaced by a rename, or behind swapped links as in a Kubernetes volume', async () => {
    for (const version of ['1', '2']) mkdirSync(join(folder, version));
    writeFileSync(join(folder, '1', 'checks.yaml'), text('a'));
    writeFileSync(join(folder, '2', 'checks.yaml'), text('b'));
    symlinkSync('1', join(folder, 'data'));
    symlinkSync(join('data', 'checks.yaml'), file);
    const watch = await watching();
    symlinkSync('2', join(folder, 'data_tmp'));
    renameSync(join(folder, 'data_tmp'), join(folder, 'data'));
    await watch.poll(2);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b']]);
    writeFileSync(join(folder, 'new.yaml'), text('c'));
    renameSync(join(folder, 'new.yaml'), file);
    await watch.poll(2);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b'], ['c']]);
    await watch.stop();
  });

  it('is read again when a PEM file that it names changes', async () => {
    const authority = await createAuthority();
    const [one, other] = await Promise.all([authority.issue(), authority.issue()]);
    const write = ({ cert, key }: typeof one): void => {
      writeFileSync(join(folder, 'c.pem'), cert);
      writeFileSync(join(folder, 'c.key'), key);
    };
    write(one);
    const certificates = 'clientCertificates:\n  - { host: a.test, cert: c.pem, key: c.key }\n';
    writeFileSync(file, text('a') + certificates);
    const watch = await watching();
    await watch.poll(4);
    expect(watch.sets).toHaveLength(1);

    writeFileSync(join(folder, 'c.key'), other.key);
    await watch.poll(3);
    expect(watch.sets).toHaveLength(1);
    expect(watch.warnings().join()).toContain('is not the private key');
    write(other);
    await watch.poll(3);
    expect(watch.sets).toHaveLength(2);
    expect(watch.sets[1]?.clientCertificates[0]?.key).toBe(other.key);
    await watch.stop();
  });

  it('is read again when a missing PEM file appears later', async () => {
    const { cert, key } = await (await createAuthority()).issue();
    writeFileSync(file, text('a'));
    const watch = await watching();
    const certificates = 'clientCertificates:\n  - { host: a.test, cert: c.pem, key: c.key }\n';
    writeFileSync(file, text('b') + certificates);
    await watch.poll(5);
    expect(watch.warnings()).toHaveLength(2);
    writeFileSync(join(folder, 'c.pem'), cert);
    writeFileSync(join(folder, 'c.key'), key);
    await watch.poll(3);
    expect(watch.sets.map(ids)).toEqual([['a'], ['b']]);
    await watch.stop();
  });

  it('is parsed in a thread if it is long', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => `check-${n}`);
    writeFileSync(file, text(...many));
    const watch = await watching();
    expect(ids(watch.sets[0])).toEqual(many);
    writeFileSync(file, `${text(...many)}  - { id: x }\n`);
    await watch.poll(2);
    expect(watch.warnings()[0]).toContain(`${file}:1502:5: checks[1500].checkType of check`);
    await watch.stop();
  });
});

describe('a check file that an agent runs without a service', () => {
  const withGroup = (setupScript: string): string =>
    JSON.stringify({
      groups: [{ id: 'shop', setupScript, teardownScript: 'logOut()' }],
      checks: [
        {
          ...{ id: 'orders', checkType: 'API', groupId: 'shop' },
          ...{ setupScript: 'sign()', teardownScript: 'remove()' },
          request: { url: 'http://localhost/' },
        },
      ],
    });

  it('has the scripts of groups in its checks, and again if only these change', async () => {
    writeFileSync(file, withGroup('logIn()'));
    const watch = await watching(file, true);
    writeFileSync(file, withGroup('logInAgain()'));
    await watch.poll();
    expect(watch.sets.map(({ checks }) => checks.map(scriptsOf))).toEqual(
      ['logIn()', 'logInAgain()'].map((source) => [
        {
          setup: [
            { owner: 'group', source },
            { owner: 'check', source: 'sign()' },
          ],
          teardown: [
            { owner: 'check', source: 'remove()' },
            { owner: 'group', source: 'logOut()' },
          ],
        },
      ]),
    );
    await watch.stop();
  });

  it('leaves them out of the checks that a service gets, which has the groups', async () => {
    writeFileSync(file, withGroup('logIn()'));
    const watch = await watching();
    expect(watch.sets[0]?.checks[0]).not.toHaveProperty('scripts');
    await watch.stop();
  });
});

describe('the first load of a check file', () => {
  it('throws if the file is invalid', async () => {
    writeFileSync(file, 'checks: 1');
    await expect(watching()).rejects.toMatchObject({ kind: 'input', code: 'CHECK_FILE_INVALID' });
  });

  it('throws for an agent by itself if there are no checks, only what a service keeps', async () => {
    writeFileSync(file, 'groups: [{ id: a }]');
    await expect(watching(file, true)).rejects.toMatchObject({
      kind: 'input',
      code: 'CHECK_FILE_WITHOUT_CHECKS',
      message: expect.stringContaining(`${file} has no checks, so there is nothing to run`),
    });
  });

  it('throws if there is no file', async () => {
    await expect(watching()).rejects.toMatchObject({
      kind: 'input',
      message: `${file}: there is no such file`,
    });
  });

  it('throws for a pipe, which can only be read once', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(watching(pipe)).rejects.toMatchObject({
      kind: 'input',
      message: `${pipe} is not a regular file, so it cannot be watched for changes`,
    });
  });
});
