import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restrictDataFolder } from '../../src/runtime/files/private-folder.ts';
import { mountSmallDisk } from '../support/agent/small-disk.ts';
import { captureLog } from '../support/log-capture.ts';
import { asNobody, NOBODY } from '../support/process/as-nobody.ts';
import { modeOf } from '../support/process/file-modes.ts';
import { lacking } from '../support/process/system-needs.ts';

const missing = lacking({ commands: ['mount', 'umount'], files: ['/proc/self/mountinfo'] });

describe.skipIf(missing !== null)(`a data folder on a volume ${missing ?? ''}`, () => {
  it('a data folder that everybody can write and nobody can change is accepted with a warning', async () => {
    const { path } = mountSmallDisk(1);
    chmodSync(path, 0o777);
    const { log, records } = captureLog();
    await asNobody(async () => {
      mkdirSync(join(path, 'spool'));
      writeFileSync(join(path, 'spool/1'), '');
      await restrictDataFolder(path, ['spool'], log);
    });
    expect(modeOf(path)).toBe(0o777);
    expect(modeOf(join(path, 'spool'))).toBe(0o700);
    const warnings = records().filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([
      {
        msg: expect.stringContaining(`make user ${NOBODY} the owner of the folder, with mode 700`),
      },
    ]);
  });
});
