import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { TOPICS } from '../../../src/handbook/topics.ts';
import { runHere as run, runCli } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { runToEnd } from '../../support/containers/run-command.ts';
import { ROOT } from '../../support/documents.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

/** The output to a terminal of that width. */
async function onTerminal(columns: number, env: Readonly<Record<string, string>>): Promise<string> {
  const { terminal, stdout } = memoryTerminal({ isTTY: true, columns });
  const code = await runProgram(['help', 'sizing'], { ...terminal, env }, () => {});
  expect(code).toBe(0);
  return stdout();
}

const widest = (text: string): number => Math.max(...text.split('\n').map(({ length }) => length));

describe('vedette help', () => {
  it('lists the commands and all topics', async () => {
    const { code, stdout, stderr } = await run(['help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: vedette [options] [command]');
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+) +\S/gm)].map(([, name]) => name);
    expect(TOPICS.filter(({ name }) => !listed.includes(name))).toEqual([]);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  it('prints a topic without colours where its output is no terminal', async () => {
    const { code, stdout, stderr } = await run(['help', 'alerts']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Alerts and notifications\n\n/);
    expect(stdout).toMatch(/\nNotifications: email, webhook, Slack, SMS\n/);
    expect(stdout).not.toContain('\u001b');
    expect(widest(stdout)).toBeLessThanOrEqual(100);
  });

  it.each([
    ['service migrate', ['service', 'migrate']],
    ['service', ['service']],
    ['help', ['help']],
  ])('prints the help of the command %s', async (_title, names) => {
    const { code, stdout, stderr } = await run(['help', ...names]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: vedette ${names.join(' ')} `);
    expect((await run([...names, '--help'])).stdout).toBe(stdout);
  });

  it('is as wide as the terminal, up to 100 columns', async () => {
    const env = { NO_COLOR: '1' };
    expect(widest(await onTerminal(60, env))).toBeLessThanOrEqual(60);
    const [wide, widestOfAll] = [await onTerminal(100, env), await onTerminal(300, env)];
    expect(widest(wide)).toBeGreaterThan(80);
    expect(widestOfAll).toBe(wide);
  });

  it('has colours on a terminal, unless NO_COLOR is set', async () => {
    expect(await onTerminal(100, {})).toContain('\u001b[1mSizing\u001b[22m');
    expect(await onTerminal(100, { NO_COLOR: '1' })).not.toContain('\u001b');
  });

  it('works in the program as it is shipped', async () => {
    const { code, stdout, stderr } = await runCli(['help', 'backups']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('pg_dump --format=custom');
  });
});

describe('an installation without the documents', () => {
  it.each([['service'], ['help', 'alerts']])(
    'ends %s with one line that names a missing document',
    async (...args) => {
      const folder = makeTempFolder();
      onTestFinished(() => folder.remove());
      cpSync(join(ROOT, 'dist'), folder.file('dist'), { recursive: true });
      cpSync(join(ROOT, 'package.json'), folder.file('package.json'));
      symlinkSync(join(ROOT, 'node_modules'), folder.file('node_modules'));
      const program = [folder.file('dist/cli/main.js'), ...args];
      const env = { PORT: '0', LOG_LEVEL: 'error' };
      const { code, stderr } = await runToEnd(process.execPath, program, { env });
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^vedette: the handbook needs .*README\.md, which cannot be read \(ENOENT\): install Vedette again, or put the file there\n$/,
      );
    },
  );
});
