import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restrictDataFolder } from '../../../../src/runtime/files/private-folder.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { asNobody, NOBODY } from '../../../support/process/as-nobody.ts';
import { modeOf, openToAll, openToOthers } from '../../../support/process/file-modes.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const NAMES = ['database', 'key', 'artifacts'];

let temp: ReturnType<typeof makeTempFolder>;
let folder: string;

beforeEach(() => {
  temp = makeTempFolder();
  folder = temp.file('data');
  mkdirSync(join(folder, 'database/base/5'), { recursive: true });
  mkdirSync(join(folder, 'artifacts/a/b'), { recursive: true });
  for (const file of ['key', 'key.new', 'database/base/5/1', 'artifacts/a/b/content']) {
    writeFileSync(join(folder, file), 'secret');
  }
  openToAll(folder);
});
afterEach(() => temp.remove());

async function close(): Promise<readonly unknown[]> {
  const { log, records } = captureLog();
  await restrictDataFolder(folder, NAMES, log);
  return records();
}

describe('a data folder that other users can open', () => {
  it('is closed to them with all its entries, and the log says so once', async () => {
    expect(await close()).toMatchObject([{ level: 'info', folder, entries: 11 }]);
    expect(openToOthers(folder)).toEqual([]);
    expect(modeOf(join(folder, 'database/base'))).toBe(0o700);
    expect(modeOf(join(folder, 'key'))).toBe(0o600);
    expect(await close()).toEqual([]);
  });

  it('keeps unknown entries as they are, and then its own mode, too', async () => {
    const notes = join(folder, 'notes.txt');
    writeFileSync(notes, '');
    chmodSync(notes, 0o666);
    await close();
    expect(openToOthers(folder)).toEqual([folder, notes]);
  });

  it('changes no file behind a link', async () => {
    const outside = temp.file('outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'file'), '');
    openToAll(outside);
    symlinkSync(outside, join(folder, 'database/base/link'));
    symlinkSync(join(outside, 'file'), join(folder, 'artifacts/link'));
    await close();
    expect([modeOf(outside), modeOf(join(outside, 'file'))]).toEqual([0o755, 0o666]);
    expect(openToOthers(folder)).toEqual([]);
  });

  it('stays open to the group of a volume, which a pod needs', async () => {
    openToAll(folder, { folder: 0o2770, file: 0o660 });
    await close();
    expect(openToOthers(folder)).toEqual([folder]);
    expect(modeOf(folder)).toBe(0o2770);
  });

  it('is ignored where it is missing or is a file', async () => {
    folder = temp.file('none');
    expect(await close()).toEqual([]);
    writeFileSync(folder, '');
    expect(await close()).toEqual([]);
  });
});

describe.runIf(process.geteuid?.() === 0)('a data folder of another user', () => {
  beforeEach(() => chmodSync(temp.path, 0o755));

  it.each([
    ['the folder', 0o777, 0o700, 0o600, /\/data" has mode 777/],
    ['a file in it', 0o755, 0o755, 0o666, /\/data\/.*" has mode 666/],
  ])('is refused in one line if all users can write to %s', async (_, root, below, file, named) => {
    openToAll(folder, { folder: below, file });
    chmodSync(folder, root);
    const error: unknown = await asNobody(close).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'environment', code: 'DATA_DIR_WRITABLE' });
    expect(String(error)).toMatch(named);
    expect(String(error)).toContain(`make user ${NOBODY} the owner of the folder, with mode 700`);
    expect(String(error)).not.toContain('\n');
  });

  it.each([
    ['closed to others', 0o750, 0],
    ['for its group', 0o2770, NOBODY],
    ['made by Kubernetes without a disk of its own', 0o2777, NOBODY],
    ['that is sticky', 0o1777, 0],
  ])('%s is accepted, and the files of Vedette in it are closed', async (_, mode, group) => {
    openToAll(folder, { folder: 0o2770, file: 0o660 });
    chmodSync(folder, mode);
    chownSync(folder, 0, group);
    chmodSync(folder, mode);
    chownSync(join(folder, 'key'), NOBODY, NOBODY);
    chmodSync(join(folder, 'key'), 0o666);
    await asNobody(close);
    expect(modeOf(folder)).toBe(mode);
    if (mode !== 0o750) expect(modeOf(join(folder, 'key'))).toBe(0o600);
  });

  it('is logged where others can read its entries', async () => {
    openToAll(folder, { folder: 0o755, file: 0o644 });
    expect(await asNobody(close)).toMatchObject([{ level: 'warn', entries: 10 }]);
  });
});
