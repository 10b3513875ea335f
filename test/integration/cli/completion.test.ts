import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../support/agent/cli.ts';
import { runToEnd } from '../../support/containers/run-command.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

/** The completions of bash for these words. The last word is incomplete. */
async function completed(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout: script } = await runHere(['completion', 'bash']);
  expect(code).toBe(0);
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(
    folder.file('ask.sh'),
    `${script}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_vedette
printf '%s\\n' "\${COMPREPLY[@]}"
`,
  );
  const ended = await runToEnd('bash', [folder.file('ask.sh'), ...words]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return ended.stdout.split('\n').filter((line) => line !== '');
}

describe('vedette completion', () => {
  it('completes commands, subcommands, options and their values in bash', async () => {
    expect(await completed('vedette', 'a')).toEqual(['agent', 'apply', 'account']);
    expect(await completed('vedette', 'service', '')).toEqual(['migrate', 'decrypt']);
    expect(await completed('vedette', 'status', '--')).toEqual([
      ...['--down', '--watch', '--output', '--help'],
    ]);
    expect(await completed('vedette', 'status', '--output', '')).toEqual(['pretty', 'json']);
    expect(await completed('vedette', 'run', '--output', '=', 'j')).toEqual(['json']);
    expect(await completed('vedette', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await completed('vedette', 'history', '--limit', '')).toEqual([]);
    expect(await completed('vedette', 'user', 'add', '--role', 'a')).toEqual(['admin']);
    expect(await completed('vedette', 'location', '')).toEqual(['add']);
    expect(await completed('vedette', 'location', 'add', '--')).toEqual([
      ...['--name', '--if-missing', '--key-file', '--output', '--help'],
    ]);
  });

  it.each(['bash', 'zsh', 'fish'])('has every command in the script of %s', async (shell) => {
    const { stdout: script } = await runHere(['completion', shell]);
    const { stdout: help } = await runHere(['--help']);
    const [, list = ''] = help.split('\nCommands:\n');
    const [commands = ''] = list.split('\n\n', 1);
    const names = [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
    expect(names).toContain('status');
    expect(names.filter((name) => !script.includes(`/${name}'`))).toEqual([]);
  });

  it('names the shells for which there is a script', async () => {
    const { code, stdout, stderr } = await runHere(['completion', 'csh']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Allowed choices are bash, zsh, fish');
  });
});
