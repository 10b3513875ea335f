import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, watch } from 'node:fs';
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import {
  type ArtifactStore,
  MIN_PART_BYTES,
  type UploadKey,
} from '../../../../../src/service/object-store/artifact-store.ts';
import { cleanUpArtifacts } from '../../../../../src/service/object-store/clean-up.ts';
import { openLocalDisk } from '../../../../../src/service/object-store/local-disk/local-disk.ts';
import {
  beginUpload,
  forever,
  newContent,
  putMissing,
  readWhole,
  streamOf,
  type TestContent,
  uploadWhole,
} from '../../../../support/artifacts/artifact-content.ts';
import { startPartWriter } from '../../../../support/artifacts/artifact-driver.ts';
import { artifactStoreSuite } from '../../../../support/artifacts/artifact-store.suite.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

const deps = { clock: systemClock, log: captureLog().log };
const openIn = (folder: string): Promise<ArtifactStore> =>
  openLocalDisk({ folder, partBytes: MIN_PART_BYTES }, deps);

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

artifactStoreSuite('artifacts on a local disk', async () => {
  const folder = makeTempFolder();
  return {
    open: () => openIn(folder.path),
    contents: () => filesIn(folder.path),
    remove: async () => folder.remove(),
  };
});

describe('a local disk', () => {
  let folder: ReturnType<typeof makeTempFolder>;
  let store: ArtifactStore;

  beforeEach(async () => {
    folder = makeTempFolder();
    store = await openIn(folder.path);
  });
  afterEach(() => folder.remove());

  function artifactFolder({ description: { accountId, sha256 } }: TestContent): string {
    return folder.file(join('artifacts', accountId, sha256.slice(0, 2), sha256));
  }

  it('recovers from kill -9 at any byte of a part', async () => {
    const content = newContent(MIN_PART_BYTES + MIB);
    const upload = await beginUpload(store, content);
    const first = content.bytes.subarray(0, MIN_PART_BYTES);
    const options = { localDisk: { folder: folder.path, partBytes: MIN_PART_BYTES } };
    for (const sentBytes of [1, 70_000, 3 * MIB]) {
      const scratch = folder.file('scratch');
      const writer = startPartWriter(options, upload, 1);
      const watcher = watch(scratch);
      writer.child.stdin.write(first.subarray(0, sentBytes));
      // The file of the part exists, and received bytes are being written.
      await once(watcher, 'change');
      await writer.kill();
      watcher.close();
      const { missing } = await store.upload(upload, forever);
      expect(missing.map(({ n }) => n)).toEqual([1, 2]);
    }
    const writer = startPartWriter(options, upload, 1);
    writer.child.stdin.end(first);
    await once(writer.child.stdout, 'data');
    await writer.kill();
    const resumed = await beginUpload(await openIn(folder.path), content);
    expect(resumed.missing.map(({ n }) => n)).toEqual([2]);
    await putMissing(store, resumed, content);
    await store.complete(resumed, forever);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
    expect(await readdir(folder.file('scratch'))).toHaveLength(3);
    const cleaned = await cleanUpArtifacts(store, Date.now() + HOUR_MS, forever);
    expect(cleaned).toEqual({ uploads: 0, leftovers: 3 });
    expect(await readdir(folder.file('scratch'))).toEqual([]);
  });

  it('sweeps only what is old, and nothing that is stored', async () => {
    const content = newContent(1000);
    await uploadWhole(store, content);
    const [old, young] = [folder.file('scratch/old'), folder.file('scratch/young')];
    await mkdir(join(old, 'parts'), { recursive: true });
    await writeFile(young, 'half a part');
    const longAgo = new Date(Date.now() - 2 * HOUR_MS);
    await utimes(old, longAgo, longAgo);
    expect(await store.sweep(Date.now() - HOUR_MS, forever)).toBe(1);
    expect(await readdir(folder.file('scratch'))).toEqual(['young']);
    expect((await readWhole(store, content)).equals(content.bytes)).toBe(true);
  });

  it('lists an upload as abandoned by its last part, not by its beginning', async () => {
    const content = newContent(MIN_PART_BYTES + 1);
    const upload = await beginUpload(store, content);
    const parts = folder.file(join('uploads', upload.accountId, upload.uploadId, 'parts'));
    const longAgo = new Date(Date.now() - 2 * HOUR_MS);
    const listed = async (): Promise<number> => {
      let count = 0;
      for await (const one of store.abandoned(Date.now() - HOUR_MS, forever)) {
        expect(one.uploadId).toBe(upload.uploadId);
        count += 1;
      }
      return count;
    };
    await utimes(parts, longAgo, longAgo);
    expect(await listed()).toBe(1);
    await store.putPart(upload, 2, lastPartOf(content), forever);
    expect(await listed()).toBe(0);
  });

  it('leaves nothing of a completed upload but its content', async () => {
    const content = newContent(MIN_PART_BYTES + 1);
    await uploadWhole(store, content);
    expect((await filesIn(folder.path)).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'about.json',
      'content',
    ]);
    const file = await stat(join(artifactFolder(content), 'content'));
    expect(file.mode & 0o777).toBe(0o600);
    expect(file.size).toBe(MIN_PART_BYTES + 1);
  });

  it('reads on where the artifact is removed meanwhile', async () => {
    const content = newContent(3 * MIB);
    await uploadWhole(store, content);
    const { stream } = await store.open(content.description, null, forever);
    await once(stream, 'readable');
    await store.remove(content.description, forever);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(content.bytes)).toBe(true);
  });

  it('reports a truncated file as damaged', async () => {
    const content = newContent(1000);
    await uploadWhole(store, content);
    await truncate(join(artifactFolder(content), 'content'), 999);
    await expect(readWhole(store, content)).rejects.toMatchObject({
      code: 'ARTIFACT_DAMAGED',
      kind: 'environment',
    });
  });

  it('reports a damaged description', async () => {
    const content = newContent(1000);
    await uploadWhole(store, content);
    const about = join(artifactFolder(content), 'about.json');
    await writeFile(about, (await readFile(about, 'utf8')).slice(0, 5));
    await expect(store.stat(content.description, forever)).rejects.toMatchObject({
      code: 'ARTIFACT_DAMAGED',
    });
  });

  it('says that the disk failed when reading fails', async () => {
    const content = newContent(1000);
    await uploadWhole(store, content);
    const file = join(artifactFolder(content), 'content');
    await rm(file);
    // The first page of a process is never mapped: reading it is EIO.
    await symlink('/proc/self/mem', file);
    await expect(readWhole(store, content)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_FAILED',
      kind: 'environment',
      attributes: { systemCode: 'EIO' },
    });
  });

  it('says that the disk failed when a folder cannot be made', async () => {
    await writeFile(folder.file('uploads'), 'a file in the way');
    await expect(beginUpload(store, newContent(10))).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_FAILED',
      kind: 'environment',
    });
    await expect(openIn(folder.file('uploads/below'))).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_FAILED',
      attributes: { systemCode: 'ENOTDIR' },
    });
  });

  describe('whose upload another process completes', () => {
    /** Another upload stores the content now. */
    async function storeElsewhere(content: TestContent): Promise<void> {
      const upload = await beginUpload(store, content, 'another');
      await putMissing(store, upload, content);
      await store.complete(upload, forever);
    }
    const uploadFolder = ({ accountId, uploadId }: UploadKey): string =>
      folder.file(join('uploads', accountId, uploadId));

    it('begins with the stored content, although the upload was open a moment ago', async () => {
      const content = newContent(1000);
      const path = uploadFolder(await beginUpload(store, content));
      const looks = await pausedReads(join(path, 'about.json'));
      const begun = store.begin(content.description, forever);
      await looks.goOn(async () => {});
      await looks.goOn(async () => {
        await storeElsewhere(content);
        await rename(path, folder.file('gone'));
      });
      expect(await begun).toMatchObject({ state: 'present', artifact: content.description });
    });

    it('completes where the parts are removed between two looks at them', async () => {
      const content = newContent(1000);
      const upload = await beginUpload(store, content);
      await putMissing(store, upload, content);
      const path = uploadFolder(upload);
      const looks = await pausedReads(join(path, 'about.json'));
      const completed = store.complete(upload, forever);
      await looks.goOn(async () => {
        await storeElsewhere(content);
        await rm(join(path, 'parts/1'));
      });
      expect(await completed).toMatchObject(content.description);
    });

    it('completes where the upload is removed before its parts are joined', async () => {
      const content = newContent(1000);
      await storeElsewhere(content);
      const [place, aside] = [artifactFolder(content), folder.file('aside')];
      await rename(place, aside);
      const upload = await beginUpload(store, content);
      await putMissing(store, upload, content);
      // It reads the clock after it has seen that all parts are there.
      const wallMs = (): number => {
        renameSync(aside, place);
        renameSync(uploadFolder(upload), folder.file('gone'));
        return systemClock.wallMs();
      };
      const other = await openLocalDisk(
        { folder: folder.path, partBytes: MIN_PART_BYTES },
        { ...deps, clock: { ...systemClock, wallMs } },
      );
      expect(await other.complete(upload, forever)).toMatchObject(content.description);
    });
  });

  it('does not take parts below the smallest size, or of no whole bytes', async () => {
    for (const partBytes of [MIN_PART_BYTES - 1, MIN_PART_BYTES + 0.5]) {
      const opened = openLocalDisk({ folder: folder.path, partBytes }, deps);
      await expect(opened).rejects.toMatchObject({ kind: 'config' });
    }
  });
});

/** Replaces a file by a pipe, so that a reader waits until the test continues. */
async function pausedReads(file: string) {
  const text = await readFile(file, 'utf8');
  const makePipe = (): void => {
    execFileSync('mkfifo', [`${file}.next`]);
    renameSync(`${file}.next`, file);
  };
  makePipe();
  return {
    /** Waits for a reader, does this, and gives the reader the file's text. */
    async goOn(meanwhile: () => Promise<void>): Promise<void> {
      // Opens only when there is a reader.
      const pipe = await open(file, 'w');
      // The next reader gets a pipe of its own.
      makePipe();
      await meanwhile();
      await pipe.writeFile(text);
      await pipe.close();
    },
  };
}

function lastPartOf(content: TestContent) {
  return streamOf(content.bytes.subarray(MIN_PART_BYTES));
}
