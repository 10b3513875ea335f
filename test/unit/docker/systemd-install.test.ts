import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readmeCommand } from '../../support/compose/readme-commands.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MADE = ['dist', 'node_modules'];

describe('the commands that make /opt/vedette', () => {
  const script = readmeCommand('systemd-install');
  const names = /^sudo cp -R (.+) \/opt\/vedette\/$/m.exec(script)?.[1]?.split(' ') ?? [];

  it('copy what there is, and what npm has made', () => {
    expect(names).toEqual(expect.arrayContaining([...MADE, 'package.json']));
    const missing = names.filter((name) => !MADE.includes(name) && !existsSync(join(ROOT, name)));
    expect(missing).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(script.indexOf('npm run build\n')).toBeGreaterThan(script.indexOf('npm ci'));
    expect(scripts).toHaveProperty('build');
  });

  it.each(['vedette.service', 'vedette-agent.service'])('copy what %s starts', (unit) => {
    const text = readFileSync(join(ROOT, 'docker/systemd', unit), 'utf8');
    const started = [...text.matchAll(/\/opt\/vedette\/([\w.-]+)\//g)].map(([, name]) => name);
    expect(started).toContain('dist');
    expect(names).toEqual(expect.arrayContaining(started));
  });
});
