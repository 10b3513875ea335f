import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import {
  type ArtifactStore,
  MIN_PART_BYTES,
} from '../../../src/service/object-store/artifact-store.ts';
import { openLocalDisk } from '../../../src/service/object-store/local-disk/local-disk.ts';
import {
  beginUpload,
  forever,
  newContent,
  partStream,
  putMissing,
  readWhole,
} from '../../support/artifacts/artifact-content.ts';
import { captureLog } from '../../support/log-capture.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const lacks = lacking({ commands: ['mount', 'umount'], files: [] });
const full = { code: 'ARTIFACT_STORE_FULL', kind: 'environment' };

describe.skipIf(lacks !== null)(`artifacts on a full disk (lacking: ${lacks ?? 'nothing'})`, () => {
  let folder: ReturnType<typeof makeTempFolder>;
  let store: ArtifactStore;

  beforeEach(async () => {
    folder = makeTempFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', folder.path]);
    store = await openLocalDisk(
      { folder: folder.path, partBytes: MIN_PART_BYTES },
      { clock: systemClock, log: captureLog().log },
    );
  });
  afterEach(() => {
    execFileSync('umount', [folder.path]);
    folder.remove();
  });

  function enlarge(): void {
    execFileSync('mount', ['-o', 'remount,size=64m', folder.path]);
  }

  it('uploads name the part that does not fit, and continue once there is space', async () => {
    const content = newContent(3 * MIN_PART_BYTES);
    const upload = await beginUpload(store, content);
    const [first, second, third] = upload.missing;
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    await store.putPart(upload, 1, partStream(content, first), forever);
    await store.putPart(upload, 2, partStream(content, second), forever);
    const source = partStream(content, third);
    await expect(store.putPart(upload, 3, source, forever)).rejects.toMatchObject(full);
    // The caller can still respond on its socket.
    expect(source.destroyed).toBe(false);
    source.destroy();
    expect((await store.upload(upload, forever)).missing.map(({ n }) => n)).toEqual([3]);
    expect(await readdir(folder.file('scratch'))).toEqual([]);
    enlarge();
    await putMissing(store, await store.upload(upload, forever), content);
    await store.complete(upload, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('an upload that does not fit as a whole exposes no partial artifact and retains its parts', async () => {
    const content = newContent(2 * MIN_PART_BYTES);
    const upload = await beginUpload(store, content);
    await putMissing(store, upload, content);
    await expect(store.complete(upload, forever)).rejects.toMatchObject(full);
    expect(await store.stat(content.description, forever)).toBeNull();
    expect(await readdir(folder.file('scratch'))).toEqual([]);
    expect((await store.upload(upload, forever)).missing).toEqual([]);
    enlarge();
    await store.complete(upload, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });
});
