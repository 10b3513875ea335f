import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ArtifactKey, UploadKey } from '../artifact-store.ts';
import { ArtifactError } from '../errors.ts';
import { checkArtifactKey, checkUploadKey } from '../names.ts';
import { orNull } from './durable-files.ts';

/** The file next to the parts of an upload. */
const UPLOAD_ABOUT = z.object({
  contentType: z.string(),
  partBytes: z.int().positive(),
  startedAtMs: z.number(),
});
export type UploadAbout = z.infer<typeof UPLOAD_ABOUT>;

/** The file next to the content of an artifact. */
const ARTIFACT_ABOUT = z.object({
  contentType: z.string(),
  bytes: z.int().positive(),
  storedAtMs: z.number(),
});
export type ArtifactAbout = z.infer<typeof ARTIFACT_ABOUT>;

export const ABOUT = 'about.json';
export const CONTENT = 'content';

/**
 * The folders of the store:
 * - `artifacts/ACCOUNT/2 digits/DIGEST/` with `content` and `about.json`: visible
 * - `uploads/ACCOUNT/UPLOAD/` with `about.json` and `parts/N`: complete parts only
 * - `scratch/`: what is being written or removed. One rename moves a folder from or to the others.
 */
export class DiskLayout {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get scratch(): string {
    return join(this.root, 'scratch');
  }

  get uploads(): string {
    return join(this.root, 'uploads');
  }

  newScratch(): string {
    return join(this.scratch, randomUUID());
  }

  artifact(key: ArtifactKey): string {
    checkArtifactKey(key);
    return join(this.root, 'artifacts', key.accountId, key.sha256.slice(0, 2), key.sha256);
  }

  upload(key: UploadKey): string {
    checkUploadKey(key);
    return join(this.uploads, key.accountId, key.uploadId);
  }

  parts(key: UploadKey): string {
    return join(this.upload(key), 'parts');
  }

  part(key: UploadKey, n: number): string {
    return join(this.parts(key), String(n));
  }
}

export function readUploadAbout(folder: string): Promise<UploadAbout | null> {
  return readAbout(folder, UPLOAD_ABOUT);
}

export function readArtifactAbout(folder: string): Promise<ArtifactAbout | null> {
  return readAbout(folder, ARTIFACT_ABOUT);
}

/** Null if there is none. */
async function readAbout<T>(folder: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await orNull(readFile(join(folder, ABOUT), 'utf8'));
  if (text === null) return null;
  const about = schema.safeParse(parseOrNull(text));
  if (about.success) return about.data;
  const message = `The file ${join(folder, ABOUT)} is damaged; remove its folder to have the artifact uploaded again`;
  throw new ArtifactError('ARTIFACT_DAMAGED', message);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
