import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readmeCommand } from '../../support/compose/readme-commands.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MADE = ['dist', 'node_modules'];

describe('the commands that make /opt/vedette', () => {
  const script = readmeCommand('systemd-install');
  const names =
    /^ *sudo cp -R (.+) "\/opt\/vedette-\$VERSION\/"/m.exec(script)?.[1]?.split(' ') ?? [];

  it('copy files that exist or that npm has made', () => {
    expect(names).toEqual(expect.arrayContaining([...MADE, 'package.json']));
    const missing = names.filter((name) => !MADE.includes(name) && !existsSync(join(ROOT, name)));
    expect(missing).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(script.indexOf('npm run build\n')).toBeGreaterThan(script.indexOf('npm ci'));
    expect(scripts).toHaveProperty('build');
  });

  it('install each version beside the others, and point /opt/vedette to the new one', () => {
    const root = makeTestFolder();
    for (const name of names) writeFileSync(join(root, name), '');
    mkdirSync(join(root, 'opt'));
    const copying = script.slice(script.indexOf('VERSION='));
    const install = (version: string) => {
      writeFileSync(join(root, 'package.json'), JSON.stringify({ version }));
      const text = copying.replaceAll('/opt/', `${root}/opt/`).replaceAll('sudo ', '');
      const { status } = spawnSync('sh', ['-euc', text], {
        cwd: root,
        env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
      });
      return { status, link: readlinkSync(join(root, 'opt/vedette')) };
    };
    expect(install('1.0.0')).toEqual({ status: 0, link: 'vedette-1.0.0' });
    expect(install('1.1.0')).toEqual({ status: 0, link: 'vedette-1.1.0' });
    for (const version of ['1.0.0', '1.1.0']) {
      const installed = readFileSync(join(root, `opt/vedette-${version}/package.json`), 'utf8');
      expect(JSON.parse(installed)).toEqual({ version });
    }
    // A version that may be running is not overwritten.
    expect(install('1.0.0')).toEqual({ status: 1, link: 'vedette-1.1.0' });
  });

  it.each(['vedette.service', 'vedette-agent.service'])('copy what %s starts', (unit) => {
    const text = readFileSync(join(ROOT, 'docker/systemd', unit), 'utf8');
    const started = [...text.matchAll(/\/opt\/vedette\/([\w.-]+)\//g)].map(([, name]) => name);
    expect(started).toContain('dist');
    expect(names).toEqual(expect.arrayContaining(started));
  });
});
