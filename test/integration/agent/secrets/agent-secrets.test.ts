import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  NO_OPERATOR_VARIABLES,
  type OperatorVariables,
} from '../../../../src/agent/config/operator-variables.ts';
import {
  type AgentSecrets,
  openAgentSecrets,
} from '../../../../src/agent/secrets/agent-secrets.ts';
import type { AgentSecretsInput } from '../../../../src/agent/secrets/check-set-secrets.ts';
import { buildScrubber } from '../../../../src/scrub/scrubber.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const LOOK_MS = 1000;
const HOUR_MS = 3_600_000;
const MASK = '********';
const NOTHING: AgentSecretsInput = { checks: [], variables: [], proxyUrl: null };

interface Parts {
  readonly operator?: Partial<OperatorVariables>;
  readonly always?: readonly string[] | (() => readonly string[]);
}

/** AgentSecrets that are watched, on a clock of the test's own. */
async function open({ operator, always = [] }: Parts = {}) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  let builds = 0;
  let fails = false;
  const agentSecrets = await openAgentSecrets({
    operator: { ...NO_OPERATOR_VARIABLES, ...operator },
    always,
    clock,
    log,
    build(secrets, turn) {
      builds += 1;
      if (fails) {
        fails = false;
        throw new Error('no scrubber');
      }
      return buildScrubber(secrets, turn);
    },
  });
  const controller = new AbortController();
  const watching = agentSecrets.watch(controller.signal);
  const idle = (): Promise<void> => eventually(() => clock.pendingTimers === 1);
  await idle();
  onTestFinished(async () => {
    controller.abort();
    await watching;
    expect(clock.pendingTimers).toBe(0);
  });
  return {
    agentSecrets,
    clock,
    builds: () => builds,
    failNextBuild(): void {
      fails = true;
    },
    warnings: () =>
      records()
        .filter(({ level }) => level === 'warn')
        .map(({ msg }) => String(msg)),
    logged: () => JSON.stringify(records()),
    async look(times = 2): Promise<void> {
      for (let n = 0; n < times; n += 1) {
        await clock.advance(LOOK_MS);
        await idle();
      }
    },
    async wait(durationMs: number): Promise<void> {
      clock.spend(durationMs);
      await clock.advance(LOOK_MS);
      await idle();
    },
  };
}

function folder(files: Readonly<Record<string, string | Buffer>> = {}) {
  const { path, file, remove } = makeTempFolder();
  onTestFinished(remove);
  for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);
  return { path, file };
}

const variable = (key: string, value: string, secret = true) => ({ key, value, secret });

/** What the template of a check becomes; the code where it fails. */
function filled(
  agentSecrets: AgentSecrets,
  data: string,
  variables: readonly object[] = [],
): string {
  const result = agentSecrets.render(checkOf('TCP', { variables, request: { data } }));
  return result.ok ? (result.check.request.data ?? '') : result.failure.code;
}

describe('the values in force', () => {
  it("are the check's own, then the agent's (environment, files), then those given", async () => {
    const { path } = folder({ A: 'file-a', B: 'file-b', C: 'file-c' });
    const fromEnv = new Map([
      ['A', 'env-a'],
      ['B', 'env-b'],
    ]);
    const { agentSecrets } = await open({ operator: { fromEnv, folder: path } });
    const variables = ['A', 'B', 'C', 'D'].map((name) => variable(name, 'given', false));
    await agentSecrets.take({ ...NOTHING, variables });
    const own = [variable('A', 'own-a', false)];
    expect(filled(agentSecrets, '{{A}} {{B}} {{C}} {{D}} {{A}}', own)).toBe(
      'own-a env-b file-c given own-a',
    );
    expect(filled(agentSecrets, '{{A}}')).toBe('env-a');
    await agentSecrets.take(NOTHING);
    expect(filled(agentSecrets, '{{D}}')).toBe('VARIABLE_UNKNOWN');
  });

  it('logs names in VARIABLE_TARGETS without a variable, as a typing error would leave a secret unrestricted', async () => {
    const { path } = folder({ A: 'file-a' });
    const target = { host: 'h', isBelow: false, port: null };
    const targets = new Map(['A', 'B', 'SLIP'].map((name) => [name, [{ name, ...target }]]));
    const { warnings } = await open({
      operator: { folder: path, fromEnv: new Map([['B', 'env-b']]), targets },
    });
    expect(warnings()).toContain(
      'VARIABLE_TARGETS names SLIP, which VARIABLES_DIR does not have (yet)',
    );
  });

  it('returns the variables without a value', async () => {
    const { agentSecrets } = await open({ operator: { fromEnv: new Map([['A', 'x']]) } });
    const checks = [
      checkOf('URL', { request: { url: 'http://{{B}}/{{A}}/{{Z}}' } }),
      checkOf('TCP', { request: { data: '{{OWN}}{{C}}{{B}}' }, variables: [variable('OWN', '')] }),
    ];
    expect(agentSecrets.missing(checks)).toEqual(['B', 'C', 'Z']);
    await agentSecrets.take({ ...NOTHING, checks, variables: [variable('Z', 'zz')] });
    expect(agentSecrets.missing(checks)).toEqual(['B', 'C']);
    // One that the service cannot decrypt is defined; the agent's own value takes its place.
    await agentSecrets.take({ ...NOTHING, checks, unreadableVariables: ['A', 'C'] });
    expect(agentSecrets.missing(checks)).toEqual(['B', 'Z']);
    const sealed = checkOf('TCP', { request: { data: '{{C}}' } });
    const failure = { code: 'CREDENTIAL_NOT_READABLE' };
    expect(agentSecrets.render(sealed)).toMatchObject({ ok: false, failure });
    const own = checkOf('TCP', { request: { data: '{{A}}' } });
    expect(agentSecrets.render(own)).toMatchObject({ ok: true, check: { request: { data: 'x' } } });
  });

  it('are not in force before the scrubber knows them', async () => {
    const { agentSecrets } = await open();
    const taken = agentSecrets.take({ ...NOTHING, variables: [variable('A', 'planted-a')] });
    const seen: string[] = [];
    let isDone = false;
    void taken.then(() => {
      isDone = true;
    });
    while (!isDone) {
      const value = filled(agentSecrets, '{{A}}');
      seen.push(value === 'VARIABLE_UNKNOWN' ? value : agentSecrets.scrubber.text(value));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    expect(new Set(seen)).not.toContain('planted-a');
    expect(agentSecrets.scrubber.text(filled(agentSecrets, '{{A}}'))).toBe(MASK);
  });

  it('stay the previous ones if no scrubber could be built, and are replaced by the next ones', async () => {
    const { agentSecrets, failNextBuild } = await open();
    const given = { ...NOTHING, variables: [variable('A', 'planted-a')] };
    failNextBuild();
    await expect(agentSecrets.take(given)).rejects.toThrow('no scrubber');
    expect(filled(agentSecrets, '{{A}}')).toBe('VARIABLE_UNKNOWN');
    await agentSecrets.take(given);
    expect(agentSecrets.scrubber.text(filled(agentSecrets, '{{A}}'))).toBe(MASK);
  });

  it('are the previous ones after files changed, until a scrubber for the new ones exists', async () => {
    const { path, file } = folder({ A: 'planted-before' });
    const { agentSecrets, failNextBuild, look, logged } = await open({
      operator: { folder: path },
    });
    failNextBuild();
    writeFileSync(file('A'), 'planted-after-it');
    await look();
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-before');
    expect(logged()).toContain('changed values cannot be used');
    await look(1);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-after-it');
    expect(agentSecrets.scrubber.text('planted-before planted-after-it')).toBe(`${MASK} ${MASK}`);
    expect(logged()).not.toContain('planted-');
  });

  it('are also masked in the form in which they are sent: in a url, in a header', async () => {
    const { agentSecrets } = await open({
      operator: { fromEnv: new Map([['T', ' planted-t\t']]) },
    });
    const hook = 'https://Hooks.Example/planted-a?b=c d#e';
    await agentSecrets.take({ ...NOTHING, variables: [variable('HOOK', hook)] });
    const sent = `${new URL(hook).href} planted-t`;
    expect(agentSecrets.scrubber.text(sent)).toBe(`${MASK}#e ${MASK}`);
    await agentSecrets.admit(
      checkOf('TCP', { variables: [variable('HOST', 'Planted-1.Example')] }),
    );
    expect(agentSecrets.scrubber.text('planted-1.example')).toBe(MASK);
  });

  it('are those that were given last, however fast they came', async () => {
    const { agentSecrets } = await open();
    const values = Array.from({ length: 20 }, (_, n) => `planted-${n}`);
    await Promise.all(
      values.map((value) => agentSecrets.take({ ...NOTHING, variables: [variable('A', value)] })),
    );
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-19');
    for (const value of values) expect(agentSecrets.scrubber.holdsKnown(value)).toBe(true);
  });
});

describe('secrets', () => {
  it("are variables marked secret, all of the agent, the location key and the proxy's credentials", async () => {
    const { path } = folder({ FILE: 'planted-file\n' });
    const { agentSecrets } = await open({
      operator: { fromEnv: new Map([['ENV', 'planted-env']]), folder: path },
      always: ['planted-key'],
    });
    const before = ['planted-file', 'planted-env', 'planted-key'];
    for (const value of before) expect(agentSecrets.scrubber.text(value)).toBe(MASK);
    const own = [variable('OWN', 'planted-own'), variable('OPEN', 'shown-own', false)];
    await agentSecrets.take({
      checks: [checkOf('DNS', { variables: own })],
      variables: [variable('GIVEN', 'planted-given'), variable('TOLD', 'shown-given', false)],
      proxyUrl: 'http://proxy-user:planted%2Fproxy@proxy.example:3128',
    });
    const secret = [...before, 'planted-own', 'planted-given', 'planted%2Fproxy', 'planted/proxy'];
    for (const value of secret) expect(agentSecrets.scrubber.text(`<${value}>`)).toBe(`<${MASK}>`);
    const shown = ['shown-own', 'shown-given', 'proxy-user', 'proxy.example'];
    for (const value of shown) expect(agentSecrets.scrubber.text(value)).toBe(value);
  });

  it('include the user name of a proxy without a password', async () => {
    const { agentSecrets } = await open();
    await agentSecrets.take({ ...NOTHING, proxyUrl: 'http://planted-token@proxy.example:3128' });
    expect(agentSecrets.scrubber.holdsKnown('planted-token')).toBe(true);
  });

  it('stay masked for an hour after they were replaced or removed', async () => {
    const { agentSecrets, wait } = await open();
    await agentSecrets.take({ ...NOTHING, variables: [variable('A', 'planted-1')] });
    await agentSecrets.take({ ...NOTHING, variables: [variable('A', 'planted-2')] });
    await wait(HOUR_MS / 2);
    await agentSecrets.take(NOTHING);
    expect(agentSecrets.scrubber.text('planted-1 planted-2')).toBe(`${MASK} ${MASK}`);
    await wait(HOUR_MS / 2);
    expect(agentSecrets.scrubber.text('planted-1 planted-2')).toBe(`planted-1 ${MASK}`);
    await wait(HOUR_MS / 2);
    expect(agentSecrets.scrubber.isIdle).toBe(true);
  });

  it('stay masked without a time limit if they are used again', async () => {
    const { agentSecrets, wait } = await open();
    const variables = [variable('A', 'planted-1')];
    await agentSecrets.take({ ...NOTHING, variables });
    await agentSecrets.take(NOTHING);
    await agentSecrets.take({ ...NOTHING, variables });
    await wait(2 * HOUR_MS);
    expect(agentSecrets.scrubber.text('planted-1')).toBe(MASK);
  });

  it('include those of a check that runs on request, for an hour from its last run', async () => {
    const { agentSecrets, builds, wait } = await open();
    const check = checkOf('TCP', { variables: [variable('OWN', 'planted-own')] });
    const start = builds();
    await agentSecrets.admit(check);
    expect(agentSecrets.scrubber.text('planted-own')).toBe(MASK);
    await wait(HOUR_MS / 2);
    await agentSecrets.take(NOTHING);
    await agentSecrets.admit(check);
    await wait(HOUR_MS / 2);
    expect(agentSecrets.scrubber.text('planted-own')).toBe(MASK);
    await agentSecrets.admit(checkOf('TCP'));
    expect(builds()).toBe(start + 1);
    await wait(HOUR_MS / 2);
    expect(agentSecrets.scrubber.isIdle).toBe(true);
  });

  it('are indexed again only when they change', async () => {
    const { agentSecrets, builds, look } = await open({ always: ['planted-key'] });
    const start = builds();
    const given = {
      ...NOTHING,
      variables: [variable('A', 'planted-a'), variable('B', 'open', false)],
    };
    await agentSecrets.take(given);
    expect(builds()).toBe(start + 1);
    await agentSecrets.take(given);
    await agentSecrets.take({
      ...given,
      variables: [variable('B', 'other', false), variable('X', 'planted-a')],
    });
    await look(3);
    expect(builds()).toBe(start + 1);
  });

  it('include the location key that the agent has now, and the previous one', async () => {
    let key = 'planted-key-1';
    const { agentSecrets, look } = await open({ always: () => [key] });
    key = 'planted-key-2';
    await look(1);
    expect(agentSecrets.scrubber.text('planted-key-1 planted-key-2')).toBe(`${MASK} ${MASK}`);
  });

  it('are bounded even if values are replaced all the time', async () => {
    const { agentSecrets, warnings } = await open();
    for (const round of ['a', 'b', 'c']) {
      const variables = Array.from({ length: 6000 }, (_, n) =>
        variable(`V${n}`, `planted-${round}-${n}-`),
      );
      await agentSecrets.take({ ...NOTHING, variables });
    }
    expect(warnings()).toEqual([
      expect.stringContaining('only for the first 1000000 characters'),
      expect.stringContaining('only the last 10000 replaced secrets'),
    ]);
    expect(agentSecrets.scrubber.holdsKnown('planted-c-0-')).toBe(true);
    expect(agentSecrets.scrubber.holdsKnown('planted-b-0-')).toBe(true);
    expect(agentSecrets.scrubber.holdsKnown('planted-a-0-')).toBe(false);
  });

  it('are logged once by name if they are too short to be masked', async () => {
    const { agentSecrets, logged, warnings } = await open();
    const given = { ...NOTHING, variables: [variable('PIN', 'q7'), variable('EMPTY', '')] };
    await agentSecrets.take(given);
    await agentSecrets.take({ ...given, variables: [variable('PIN', 'q8')] });
    expect(warnings()).toEqual([expect.stringContaining('too short')]);
    expect(logged()).toContain('"variable":"PIN"');
    expect(logged()).not.toMatch(/q7|q8/);
    expect(filled(agentSecrets, '{{PIN}}')).toBe('q8');
  });
});

describe('the folder of files', () => {
  it('contains one value per file, without the line break at its end', async () => {
    const { path, file } = folder({
      A: 'a\n',
      B: 'b\r\n',
      C: 'c\n\n',
      D: '\ufeffé',
      EMPTY: '',
      '.hidden': 'planted',
      'not-a-name': 'planted',
    });
    mkdirSync(file('FOLDER'));
    symlinkSync(file('FOLDER'), file('LINKED_FOLDER'));
    symlinkSync(file('A'), file('LINK'));
    const { agentSecrets, warnings, logged } = await open({ operator: { folder: path } });
    expect(filled(agentSecrets, '{{A}}|{{B}}|{{C}}|{{D}}|{{EMPTY}}|{{LINK}}')).toBe('a|b|c\n|é||a');
    expect(filled(agentSecrets, '{{FOLDER}}')).toBe('VARIABLE_UNKNOWN');
    expect(filled(agentSecrets, '{{LINKED_FOLDER}}')).toBe('VARIABLE_UNKNOWN');
    expect(warnings().filter((line) => line.startsWith('VARIABLES_DIR'))).toEqual([
      'VARIABLES_DIR: files whose names are not valid variable names are skipped: "not-a-name"',
    ]);
    expect(logged()).not.toContain('planted');
  });

  it('is read again when it changed and stands still', async () => {
    const { path, file } = folder({ A: 'planted-1', B: 'planted-b' });
    const { agentSecrets, look, warnings } = await open({ operator: { folder: path } });
    writeFileSync(file('A'), 'plan');
    await look(1);
    writeFileSync(file('A'), 'planted-2');
    await look(1);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-1');
    await look(1);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-2');
    expect(agentSecrets.scrubber.text('planted-1 planted-2')).toBe(`${MASK} ${MASK}`);
    unlinkSync(file('B'));
    writeFileSync(file('C'), 'planted-c');
    await look(2);
    expect(filled(agentSecrets, '{{B}}')).toBe('VARIABLE_UNKNOWN');
    expect(filled(agentSecrets, '{{C}}')).toBe('planted-c');
    expect(agentSecrets.scrubber.text('planted-b')).toBe(MASK);
    expect(warnings()).toEqual([]);
  });

  it('may be a mounted secret whose versions are swapped', async () => {
    const { path, file } = folder();
    const version = (name: string, value: string): void => {
      mkdirSync(file(name));
      writeFileSync(join(file(name), 'TOKEN'), value);
    };
    version('..1', 'planted-1');
    symlinkSync('..1', file('..data'));
    symlinkSync('..data/TOKEN', file('TOKEN'));
    const { agentSecrets, look } = await open({ operator: { folder: path } });
    expect(filled(agentSecrets, '{{TOKEN}}')).toBe('planted-1');
    version('..2', 'planted-2');
    symlinkSync('..2', file('..data_tmp'));
    renameSync(file('..data_tmp'), file('..data'));
    rmSync(file('..1'), { recursive: true });
    await look(2);
    expect(filled(agentSecrets, '{{TOKEN}}')).toBe('planted-2');
  });

  it('leaves its last values in use if it disappears, and logs that once', async () => {
    const { path, file } = folder({ A: 'planted-a' });
    const { agentSecrets, look, warnings } = await open({ operator: { folder: path } });
    renameSync(path, `${path}-moved`);
    onTestFinished(() => rmSync(`${path}-moved`, { recursive: true, force: true }));
    await look(70);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-a');
    expect(warnings()).toEqual([
      'VARIABLES_DIR: it cannot be read (ENOENT): its last values stay in use',
    ]);
    renameSync(`${path}-moved`, path);
    writeFileSync(file('A'), 'planted-b');
    await look(2);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-b');
    expect(warnings()).toHaveLength(2);
  });

  it('rejects files one by one, and logs each name once but never its content', async () => {
    const { path, file } = folder({
      LONG: 'planted'.repeat(3000),
      HUGE: Buffer.alloc(1_000_000, 'planted'),
      BINARY: Buffer.from([0x70, 0x6c, 0xff, 0xfe]),
      GOOD: 'x'.repeat(20_000),
      KEPT: 'planted-kept',
    });
    execFileSync('mkfifo', [file('PIPE')]);
    symlinkSync(file('nowhere'), file('GONE'));
    const { agentSecrets, look, warnings, logged } = await open({ operator: { folder: path } });
    const told = (): string[] => warnings().filter((line) => line.startsWith('VARIABLES_DIR'));
    expect(told()).toEqual([
      'VARIABLES_DIR: the file BINARY is not UTF-8 text: it is skipped',
      'VARIABLES_DIR: the file GONE cannot be read (ENOENT): it is skipped',
      'VARIABLES_DIR: the file HUGE is longer than 20000 characters: it is skipped',
      'VARIABLES_DIR: the file LONG is longer than 20000 characters: it is skipped',
      'VARIABLES_DIR: the file PIPE is not a regular file: it is skipped',
    ]);
    expect(filled(agentSecrets, '{{GOOD}}')).toHaveLength(20_000);
    writeFileSync(file('KEPT'), Buffer.from([0xff]));
    await look(70);
    expect(filled(agentSecrets, '{{KEPT}}')).toBe('planted-kept');
    expect(told().slice(5)).toEqual([
      'VARIABLES_DIR: the file KEPT is not UTF-8 text: its last value stays in use',
    ]);
    for (const name of ['BINARY', 'GONE', 'HUGE', 'LONG', 'PIPE']) unlinkSync(file(name));
    writeFileSync(file('KEPT'), 'planted-new');
    await look(2);
    expect(filled(agentSecrets, '{{KEPT}}')).toBe('planted-new');
    expect(told().slice(6)).toEqual(['VARIABLES_DIR: the folder can be used again']);
    expect(logged()).not.toContain('planted');
  });

  it('retains the value of a file that can no longer be read', async () => {
    const { path, file } = folder({ A: 'planted-a' });
    const { agentSecrets, look, warnings } = await open({ operator: { folder: path } });
    unlinkSync(file('A'));
    symlinkSync('A', file('A'));
    await look(2);
    expect(filled(agentSecrets, '{{A}}')).toBe('planted-a');
    expect(warnings()).toEqual([expect.stringContaining('the file A cannot be read (ELOOP)')]);
  });

  it('reads 500 files, and logs that there are more', async () => {
    const files = Array.from({ length: 502 }, (_, n) => [
      `V${String(n).padStart(3, '0')}`,
      `value-${n}`,
    ]);
    const { path } = folder(Object.fromEntries(files));
    const { agentSecrets, warnings } = await open({ operator: { folder: path } });
    expect(filled(agentSecrets, '{{V499}}')).toBe('value-499');
    expect(filled(agentSecrets, '{{V500}}')).toBe('VARIABLE_UNKNOWN');
    expect(warnings()).toEqual([expect.stringContaining('more than 500 values')]);
  });
});
