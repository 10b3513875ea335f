import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startedAs } from '../../../src/cli/started-as.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const FILE = '/opt/vedette/dist/cli/main.js';
const NPM_START = { npm_lifecycle_event: 'start', npm_package_name: 'vedette' };

describe('commands to paste', () => {
  it.each([
    ['vedette', undefined, {}],
    ['vedette', '/usr/local/bin/vedette', {}],
    ['npx vedette', '/srv/shop/node_modules/.bin/vedette', {}],
    ['npx vedette', '/root/.npm/_npx/1a2b/node_modules/.bin/vedette', { PATH: '/usr/bin' }],
    ['npx vedette', FILE, NPM_START],
    [`node ${FILE}`, FILE, {}],
    [`node ${FILE}`, FILE, { ...NPM_START, npm_lifecycle_event: 'test' }],
    [`node ${FILE}`, FILE, { ...NPM_START, npm_package_name: 'shop' }],
    ["node '/my programs/dist/cli/main.js'", '/my programs/dist/cli/main.js', {}],
    ['node dist/cli/main.js', join(process.cwd(), 'dist/cli/main.js'), {}],
    ['node src/cli/main.ts', join(process.cwd(), 'src/cli/main.ts'), {}],
  ])('begin with %s where the program was started by %s and %j', (program, script, env) => {
    expect(startedAs({ script, env })).toBe(program);
  });

  it('begin with vedette where PATH has it, however the program was started', () => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const env = { PATH: `/no/such/folder:${folder.path}` };
    expect(startedAs({ script: FILE, env })).toBe(`node ${FILE}`);
    writeFileSync(folder.file('vedette'), '');
    expect(startedAs({ script: FILE, env })).toBe('vedette');
  });
});
