import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { S3Refusal } from './s3-xml.ts';

const MIN_PART_BYTES = 5 * 1024 * 1024;

/** Bytes in a file, with their S3 metadata. */
export interface S3Content {
  readonly file: string;
  readonly bytes: number;
  readonly md5: string;
  readonly etag: string;
  readonly modifiedAtMs: number;
}

export interface S3Object extends S3Content {
  readonly contentType: string;
}

export interface S3Upload {
  readonly key: string;
  readonly id: string;
  readonly contentType: string;
  readonly startedAtMs: number;
  readonly parts: Map<number, S3Content>;
}

/** One bucket: its index in memory, its bytes in files. */
export class S3Bucket {
  readonly objects = new Map<string, S3Object>();
  readonly uploads = new Map<string, S3Upload>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  newFile(): string {
    return join(this.#folder, randomUUID());
  }

  /** Stores a body of exactly the announced length, like S3, or nothing. */
  async receive(body: Readable, announcedBytes: number, sha256: string): Promise<S3Content> {
    const file = this.newFile();
    const md5 = createHash('md5');
    const payload = createHash('sha256');
    let bytes = 0;
    try {
      await pipeline(
        body,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            md5.update(chunk);
            payload.update(chunk);
            bytes += chunk.length;
            yield chunk;
          }
        },
        createWriteStream(file),
      );
      if (bytes !== announcedBytes) {
        throw new S3Refusal(400, 'IncompleteBody', 'The body is shorter than announced');
      }
      if (sha256 !== 'UNSIGNED-PAYLOAD' && payload.digest('hex') !== sha256) {
        throw new S3Refusal(400, 'XAmzContentSHA256Mismatch', 'Not the body that was signed');
      }
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
    const hex = md5.digest('hex');
    return { file, bytes, md5: hex, etag: `"${hex}"`, modifiedAtMs: Date.now() };
  }

  object(key: string): S3Object {
    const object = this.objects.get(key);
    if (object === undefined) throw new S3Refusal(404, 'NoSuchKey', 'There is no such key');
    return object;
  }

  upload(key: string, id: string): S3Upload {
    const upload = this.uploads.get(id);
    if (upload?.key !== key) throw new S3Refusal(404, 'NoSuchUpload', 'There is no such upload');
    return upload;
  }

  open(key: string, contentType: string): S3Upload {
    const id = randomUUID();
    const upload = { key, id, contentType, startedAtMs: Date.now(), parts: new Map() };
    this.uploads.set(id, upload);
    return upload;
  }

  async copy(from: S3Object, to: string): Promise<S3Object> {
    const file = this.newFile();
    await copyFile(from.file, file);
    const copy = { ...from, file, modifiedAtMs: Date.now() };
    this.objects.set(to, copy);
    return copy;
  }

  /** Joins the named parts, under S3's conditions. */
  async complete(
    upload: S3Upload,
    named: readonly { readonly n: number; readonly etag: string }[],
  ): Promise<S3Object> {
    const parts = named.map(({ n, etag }) => {
      const part = upload.parts.get(n);
      if (part?.etag !== etag) throw new S3Refusal(400, 'InvalidPart', `Part ${n} is another`);
      return part;
    });
    if (named.some(({ n }, index) => n <= (named[index - 1]?.n ?? 0))) {
      throw new S3Refusal(400, 'InvalidPartOrder', 'The parts are not in order');
    }
    if (parts.slice(0, -1).some(({ bytes }) => bytes < MIN_PART_BYTES)) {
      throw new S3Refusal(400, 'EntityTooSmall', 'A part is below 5 MiB');
    }
    const file = this.newFile();
    await writeFile(file, '');
    for (const part of parts) {
      await pipeline(createReadStream(part.file), createWriteStream(file, { flags: 'a' }));
    }
    const md5s = Buffer.concat(parts.map(({ md5 }) => Buffer.from(md5, 'hex')));
    const md5 = createHash('md5').update(md5s).digest('hex');
    const object: S3Object = {
      file,
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      md5,
      etag: `"${md5}-${parts.length}"`,
      contentType: upload.contentType,
      modifiedAtMs: Date.now(),
    };
    // Another client may have completed it meanwhile. Ending the upload and creating the object is
    // one step, as S3 promises.
    this.upload(upload.key, upload.id);
    this.uploads.delete(upload.id);
    this.objects.set(upload.key, object);
    return object;
  }
}
