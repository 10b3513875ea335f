import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import {
  type Environment,
  loadConfig,
  loadRunConfig,
} from '../../../../src/agent/config/agent-config.ts';
import { messageOf } from '../../../../src/runtime/errors.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const NEEDED = { CHECKS_FILE: 'checks.yaml' };

function refusalOf(env: Environment): string {
  try {
    loadConfig({ ...NEEDED, ...env });
  } catch (error) {
    return messageOf(error);
  }
  throw new Error('nothing was refused');
}

it('takes the named variables of the environment as they are, for the agent and for a run', () => {
  const env = { VARIABLES_FROM_ENV: ' A, B_2\nA', A: ' a b\n', B_2: 'x', C: 'not named' };
  const expected = new Map([
    ['A', ' a b\n'],
    ['B_2', 'x'],
  ]);
  expect(loadConfig({ ...NEEDED, ...env }).operatorVariables.fromEnv).toEqual(expected);
  expect(loadRunConfig(env).operatorVariables).toEqual({
    fromEnv: expected,
    folder: null,
    targets: new Map(),
  });
});

it('does not take a named variable for a typing error, however similar it is to one of ours', () => {
  const env = { VARIABLES_FROM_ENV: 'DATA_DIRS', DATA_DIRS: 'x' };
  expect(refusalOf({ DATA_DIRS: 'x' })).toContain('did you mean DATA_DIR?');
  expect(loadConfig({ ...NEEDED, ...env }).operatorVariables.fromEnv).toEqual(
    new Map([['DATA_DIRS', 'x']]),
  );
});

it.each<[Environment, string]>([
  [{ VARIABLES_FROM_ENV: 'A' }, 'VARIABLES_FROM_ENV names A, which is not set'],
  [{ VARIABLES_FROM_ENV: 'A', A: '' }, 'names A, which is not set'],
  [{ VARIABLES_FROM_ENV: 'constructor' }, 'names constructor, which is not set'],
  [{ VARIABLES_FROM_ENV: 'A B-C', A: 'planted' }, 'VARIABLES_FROM_ENV contains "B-C"; it must be'],
  [
    { VARIABLES_FROM_ENV: 'A=planted', A: 'x' },
    'VARIABLES_FROM_ENV contains "A=********"; it must',
  ],
  [
    { VARIABLES_FROM_ENV: 'A-B:planted=1' },
    'VARIABLES_FROM_ENV contains "A-B:********"; it must be',
  ],
  [{ VARIABLES_FROM_ENV: 'planted!' }, 'VARIABLES_FROM_ENV contains "********"; it must be'],
  [{ VARIABLES_FROM_ENV: 'API_KEY', API_KEY: 'planted' }, 'API_KEY, which is a setting'],
  [{ VARIABLES_FROM_ENV: 'data_dir', data_dir: 'x' }, 'data_dir, which is a setting'],
  [{ VARIABLES_FROM_ENV: 'A', A: 'planted'.repeat(3000) }, 'longer than 20000 characters'],
  [{ VARIABLES_FROM_ENV: 'A,'.repeat(501), A: 'x' }, 'a list of at most 500 names'],
])('refuses %j in one line, and shows no value', (env, message) => {
  const refusal = refusalOf(env);
  expect(refusal).toContain(message);
  expect(refusal).not.toMatch(/planted|\n/);
});

it('requires a folder that can be read', () => {
  const { path, file, remove } = makeTempFolder();
  onTestFinished(remove);
  writeFileSync(file('a-file'), '');
  mkdirSync(file('locked'));
  chmodSync(file('locked'), 0);
  expect(loadConfig({ ...NEEDED, VARIABLES_DIR: path }).operatorVariables.folder).toBe(path);
  expect(refusalOf({ VARIABLES_DIR: file('none') })).toBe(
    `VARIABLES_DIR is "${file('none')}", which does not exist; it must be the path of a folder with one file per value`,
  );
  expect(refusalOf({ VARIABLES_DIR: file('a-file') })).toContain('which is not a folder;');
  expect(refusalOf({ VARIABLES_DIR: file('a-file/b') })).toContain('cannot be read (ENOTDIR)');
  // Root may read everything.
  if (process.getuid?.() === 0) return;
  expect(refusalOf({ VARIABLES_DIR: file('locked') })).toContain('may not be read by this user');
});

it('binds variables of the agent to targets, also for a run', () => {
  const env = {
    VARIABLES_FROM_ENV: 'A B',
    A: 'x',
    B: 'y',
    VARIABLE_TARGETS: 'A@db.internal:5432, A@*.Shop.Example B@[2001:DB8:0::1]:443',
  };
  const targets = new Map([
    [
      'A',
      [
        { name: 'A', host: 'db.internal', isBelow: false, port: 5432 },
        { name: 'A', host: 'shop.example', isBelow: true, port: null },
      ],
    ],
    ['B', [{ name: 'B', host: '2001:db8::1', isBelow: false, port: 443 }]],
  ]);
  expect(loadConfig({ ...NEEDED, ...env }).operatorVariables.targets).toEqual(targets);
  expect(loadRunConfig(env).operatorVariables.targets).toEqual(targets);
});

it.each([
  ['A', 'A'],
  ['A@', 'A@'],
  ['A@*', 'A@*'],
  ['A@*.', 'A@*.'],
  ['A@a.*.example', 'A@a.*.example'],
  ['A@host:0', 'A@host:0'],
  ['A@host:65536', 'A@host:65536'],
  ['A@host:', 'A@host:'],
  ['A@10.0.0.256', 'A@10.0.0.256'],
  ['A@*.10.0.0.1', 'A@*.10.0.0.1'],
  ['A@2001:db8::1', 'A@2001:db8::1'],
  ['A@[host]', 'A@[host]'],
  ['A@https://host', 'A@https://host'],
  ['A@host/path', 'A@host/path'],
  ['A-B@host', '********@host'],
  ['planted!@host', '********@host'],
  ['planted@1!@host', 'planted@1!@host'],
])('refuses VARIABLE_TARGETS=%s in one line that shows it as %s', (value, shown) => {
  const env = { VARIABLES_FROM_ENV: 'A', A: 'x', VARIABLE_TARGETS: value };
  const refusal = refusalOf(env);
  expect(refusal).toContain(` ${JSON.stringify(shown)};`);
  expect(refusal).toMatch(
    /^VARIABLE_TARGETS (is|contains) "[^"]*"; it must be a list of at most 1000 NAME@host/,
  );
});

it('refuses a target of a variable that the agent does not have', () => {
  const env = { VARIABLES_FROM_ENV: 'TOKEN', TOKEN: 'x', VARIABLE_TARGETS: 'TOKN@host' };
  expect(refusalOf(env)).toBe(
    'VARIABLE_TARGETS names TOKN, which is not a variable of the agent: name it in VARIABLES_FROM_ENV too, set VARIABLES_DIR, or take its entries out',
  );
});
