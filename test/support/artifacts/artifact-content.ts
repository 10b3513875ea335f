import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type {
  ArtifactDescription,
  ArtifactStore,
  PartPlan,
  StoredArtifact,
  Upload,
} from '../../../src/service/object-store/artifact-store.ts';

/** Aborts never. */
export const forever = new AbortController().signal;

export interface TestContent {
  readonly bytes: Buffer;
  readonly description: ArtifactDescription;
}

/** Content of one account that no other test has. */
export function newContent(
  length: number,
  overrides: Partial<ArtifactDescription> = {},
): TestContent {
  const bytes = randomBytes(length);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const contentType = 'application/vnd.tcpdump.pcap';
  return {
    bytes,
    description: { accountId: 'acc_1', sha256, bytes: length, contentType, ...overrides },
  };
}

/** One part of a content in small chunks, like a socket. */
export function partStream(content: TestContent, part: PartPlan): Readable {
  const bytes = content.bytes.subarray(part.offset, part.offset + part.bytes);
  return streamOf(bytes);
}

export function streamOf(bytes: Buffer, chunkBytes = 64 * 1024): Readable {
  function* chunks(): Generator<Buffer> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return Readable.from(chunks(), { objectMode: false });
}

export async function beginUpload(
  store: ArtifactStore,
  { description }: TestContent,
  owner?: string,
): Promise<Upload> {
  const upload = owner === undefined ? description : { ...description, owner };
  const begun = await store.begin(upload, forever);
  if (begun.state !== 'uploading') throw new Error('The content is there already');
  return begun.upload;
}

/** Puts the missing parts in order. */
export async function putMissing(
  store: ArtifactStore,
  upload: Upload,
  content: TestContent,
): Promise<void> {
  for (const part of upload.missing) {
    await store.putPart(upload, part.n, partStream(content, part), forever);
  }
}

export async function uploadWhole(
  store: ArtifactStore,
  content: TestContent,
): Promise<StoredArtifact> {
  const upload = await beginUpload(store, content);
  await putMissing(store, upload, content);
  return store.complete(upload, forever);
}

export async function readWhole(store: ArtifactStore, content: TestContent): Promise<Buffer> {
  const { stream } = await store.open(content.description, null, forever);
  return buffer(stream);
}
