import { artifactIdOf } from '../../model/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { type FileSystem, systemFiles } from '../../runtime/files/file-system.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import {
  type ArtifactBegin,
  artifactBeginSchema,
  isOverArtifactLimit,
} from '../../wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../wire/v1/limits.ts';
import type { Pieces } from '../service-client/file-pieces.ts';
import type { SharedSpoolSpace, Spool } from '../spool/spool.ts';
import { type ArtifactFiles, diskArtifactFiles, memoryArtifactFiles } from './artifact-files.ts';

interface AboutArtifact {
  readonly resultId: string;
  readonly checkId: string;
  /** A plain file name: `response-body`. */
  readonly name: string;
  /** From the target; application/octet-stream replaces an invalid media type. */
  readonly contentType: string;
}

export interface NewArtifact extends AboutArtifact {
  /** Not copied: the caller must not change them any more. */
  readonly bytes: Uint8Array;
}

export interface NewFileArtifact extends AboutArtifact {
  /** A complete file, which is copied; the caller removes it. */
  readonly path: string;
}

export type AddedArtifact =
  /** The artifact's path at the service, once it is sent. */
  | { readonly ok: true; readonly asset: string }
  /** Why it is not saved, for the job log. */
  | { readonly ok: false; readonly note: string };

/** Takes data of runs that is too long for a result. */
export interface ArtifactOutbox {
  /** Resolves when the artifact is as durable as results are. Never throws. */
  add(artifact: NewArtifact): Promise<AddedArtifact>;
  /** Like `add`, for a file, which need not fit into memory. */
  addFile(artifact: NewFileArtifact): Promise<AddedArtifact>;
  /** Takes no more artifacts, and resolves when all are written. */
  close(): Promise<void>;
}

/** The waiting artifacts, for the uploader. */
export interface ArtifactContents {
  /** Bytes of all waiting artifacts. */
  readonly bytes: number;
  /** Whether the artifact still has all its bytes. @throws the system's error */
  isWhole(id: string, bytes: number): Promise<boolean>;
  /** The `bytes` from that offset on. The pieces throw the system's error. */
  read(id: string, from: number, bytes: number): Pieces;
  /** Call it after the artifact was sent or dropped. */
  remove(id: string): Promise<void>;
}

export interface OutboxOptions {
  /** DATA_DIR; null: artifacts are in memory. */
  readonly dataDir: string | null;
  /** Contains the notes of waiting artifacts; its bound in bytes includes theirs. */
  readonly spool: Spool;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: the machine's own. */
  readonly disk?: FileSystem;
}

/** The bytes of a new artifact, in memory or in a file. */
interface Content {
  readonly bytes: number;
  write(id: string): Promise<string>;
}

/** Bounds the notes in the spool, which every start of the agent reads. */
const MAX_ARTIFACTS = 10_000;
const WITHOUT_DIGEST = artifactBeginSchema.omit({ sha256: true });

/**
 * Opens the artifacts that wait for the service: the bytes of each are in a file (or in memory),
 * and a note in the spool, which is written when the file is complete. The next start removes a
 * file without a note.
 *
 * @throws VedetteError of code DATA_DIR_UNUSABLE if the folder cannot be read
 */
export async function openArtifactOutbox(
  options: OutboxOptions,
): Promise<ArtifactOutbox & ArtifactContents> {
  const { dataDir, disk = systemFiles } = options;
  const files = dataDir === null ? memoryArtifactFiles(disk) : diskArtifactFiles(dataDir, disk);
  const outbox = new Outbox({ ...options, disk }, files);
  await outbox.readExisting();
  return outbox;
}

class Outbox implements ArtifactOutbox, ArtifactContents, SharedSpoolSpace {
  readonly #options: Required<OutboxOptions>;
  readonly #files: ArtifactFiles;
  /** Bytes by id, oldest first. */
  readonly #sizes = new Map<string, number>();
  readonly #throttled: ThrottledLog;
  readonly #adding = new Map<string, Promise<AddedArtifact>>();
  #bytes = 0;
  #isOpen: boolean = true;

  constructor(options: Required<OutboxOptions>, files: ArtifactFiles) {
    this.#options = options;
    this.#files = files;
    this.#throttled = new ThrottledLog(options.clock, options.log, { repeats: false });
  }

  get bytes(): number {
    return this.#bytes;
  }

  async readExisting(): Promise<void> {
    const { spool } = this.#options;
    for (const { id, bytes } of await this.#files.found()) {
      if (spool.has('artifact-note', id)) this.#addSize(id, bytes);
      else await this.#files.remove(id);
    }
    spool.share(this);
  }

  add(artifact: NewArtifact): Promise<AddedArtifact> {
    const { bytes } = artifact;
    const write = (id: string): Promise<string> => this.#files.write(id, bytes);
    return this.#addOnce(artifact, (id) => this.#add(id, artifact, { bytes: bytes.length, write }));
  }

  addFile(artifact: NewFileArtifact): Promise<AddedArtifact> {
    return this.#addOnce(artifact, async (id) => {
      const { name, path } = artifact;
      let bytes: number;
      try {
        bytes = (await this.#options.disk.stat(path)).size;
      } catch (error) {
        return refusal(`The artifact ${name}`, messageOf(error));
      }
      const write = (): Promise<string> => this.#files.copy(id, path, bytes);
      return await this.#add(id, artifact, { bytes, write });
    });
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#adding.values());
  }

  async isWhole(id: string, bytes: number): Promise<boolean> {
    return (await this.#files.size(id)) === bytes;
  }

  read(id: string, from: number, bytes: number): Pieces {
    return this.#files.read(id, from, bytes);
  }

  async remove(id: string): Promise<void> {
    this.#bytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
    await this.#files.remove(id);
  }

  async shed(bytes: number): Promise<void> {
    const before = this.#sizes.size;
    for (let shed = 0; shed < bytes; ) {
      const [oldest] = this.#sizes;
      if (oldest === undefined) break;
      shed += oldest[1];
      this.#options.spool.discard('artifact-note', oldest[0], 'space');
      await this.remove(oldest[0]);
    }
    if (this.#sizes.size === before) return;
    this.#throttled.warn(
      'full',
      {},
      'there is no space for all artifacts: the oldest are dropped (vedette_spool_dropped_total counts them)',
    );
  }

  #addOnce(
    { resultId, name }: AboutArtifact,
    add: (id: string) => Promise<AddedArtifact>,
  ): Promise<AddedArtifact> {
    const id = artifactIdOf(resultId, name);
    if (this.#sizes.has(id)) return Promise.resolve(assetOf(id));
    const adding = this.#adding.get(id) ?? add(id);
    this.#adding.set(id, adding);
    return adding.finally(() => this.#adding.delete(id));
  }

  async #add(id: string, about: AboutArtifact, content: Content): Promise<AddedArtifact> {
    const { bytes } = content;
    const refused = (why: string): AddedArtifact =>
      refusal(`The artifact ${about.name} (${bytes} bytes)`, why);
    if (!this.#isOpen) return refused('the agent stops');
    if (isOverArtifactLimit({ bytes })) return refused(`the limit is ${MAX_ARTIFACT_BYTES} bytes`);
    const begin = beginOf(about, bytes);
    if (begin === null) return refused('it is empty, or its name has no valid form');
    await this.#removeLost();
    if (!(await this.#reserve(bytes))) return refused('there is no room for it');
    let sha256: string;
    try {
      sha256 = await content.write(id);
    } catch (error) {
      return refused(messageOf(error));
    } finally {
      this.#bytes -= bytes;
    }
    this.#addSize(id, bytes);
    const { spool, clock } = this.#options;
    const body = Buffer.from(JSON.stringify({ ...begin, sha256 } satisfies ArtifactBegin));
    spool.put({ kind: 'artifact-note', id, atMs: clock.wallMs(), body });
    return assetOf(id);
  }

  /** Reserves room for bytes to be written. False if dropping all other artifacts is not enough. */
  async #reserve(bytes: number): Promise<boolean> {
    const free = (): number =>
      Math.min(this.#options.spool.freeBytes, this.#files.maxBytes - this.#bytes);
    const waiting = [...this.#sizes.values()].reduce((sum, each) => sum + each, 0);
    if (bytes > free() + waiting) return false;
    while (bytes > free() || this.#sizes.size >= MAX_ARTIFACTS) {
      if (this.#sizes.size === 0) return false;
      await this.shed(1);
    }
    this.#bytes += bytes;
    return true;
  }

  /** Removes the files of notes that the spool dropped for their age or for damage. */
  async #removeLost(): Promise<void> {
    const { spool } = this.#options;
    for (const id of [...this.#sizes.keys()]) {
      if (!spool.has('artifact-note', id)) await this.remove(id);
    }
  }

  #addSize(id: string, bytes: number): void {
    this.#sizes.set(id, bytes);
    this.#bytes += bytes;
  }
}

function assetOf(id: string): AddedArtifact {
  return { ok: true, asset: `/v1/artifacts/${id}` };
}

function refusal(what: string, why: string): AddedArtifact {
  return { ok: false, note: `${what} is not kept: ${why}` };
}

/** The begin message without the digest; null if the service would never accept it. */
function beginOf(about: AboutArtifact, bytes: number): Omit<ArtifactBegin, 'sha256'> | null {
  const { resultId, checkId, name } = about;
  for (const contentType of [about.contentType, 'application/octet-stream']) {
    const begin = { resultId, checkId, name, contentType, bytes };
    if (WITHOUT_DIGEST.safeParse(begin).success) return begin;
  }
  return null;
}
