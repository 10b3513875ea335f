import { artifactIdOf } from '../../model/ids.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import {
  type ArtifactBegin,
  artifactBeginSchema,
  isOverArtifactLimit,
} from '../../wire/v1/artifacts.ts';
import { MAX_ARTIFACT_BYTES } from '../../wire/v1/limits.ts';
import { type Disk, systemDisk } from '../spool/disk/disk.ts';
import type { BesideSpool, Spool } from '../spool/spool.ts';
import { type ArtifactFiles, diskArtifactFiles, memoryArtifactFiles } from './artifact-files.ts';
import type { Pieces } from './file-pieces.ts';

interface AboutArtifact {
  readonly resultId: string;
  readonly checkId: string;
  /** A plain file name: `response-body`. */
  readonly name: string;
  /** As the target gave it; one that is no media type becomes application/octet-stream. */
  readonly contentType: string;
}

export interface NewArtifact extends AboutArtifact {
  /** Must not be changed any more. */
  readonly bytes: Uint8Array;
}

export interface NewFileArtifact extends AboutArtifact {
  /** A file that is whole. It is copied, and the caller's to remove. */
  readonly path: string;
}

export type AddedArtifact =
  /** A path of the service, where the artifact is found once it is sent. */
  | { readonly ok: true; readonly asset: string }
  /** For the job log: why it is not kept. */
  | { readonly ok: false; readonly note: string };

/** Where runs put what is too long for a result. */
export interface ArtifactOutbox {
  /** Resolves when it is kept, as safely as results are. Never throws. */
  add(artifact: NewArtifact): Promise<AddedArtifact>;
  /** The same for what is a file already, which need not fit into memory. */
  addFile(artifact: NewFileArtifact): Promise<AddedArtifact>;
  /** Takes nothing more, and resolves when all that was added is written. */
  close(): Promise<void>;
}

/** The same for those who send. */
export interface ArtifactContents {
  /** Of all that waits together. */
  readonly bytes: number;
  /** Whether all of it is still there. @throws the system's error */
  isWhole(id: string, bytes: number): Promise<boolean>;
  /** So many of its bytes from there on. The pieces throw the system's error. */
  read(id: string, from: number, bytes: number): Pieces;
  /** It was sent, or never will be. */
  remove(id: string): Promise<void>;
}

export interface OutboxOptions {
  /** DATA_DIR; null keeps artifacts in memory. */
  readonly dataDir: string | null;
  /** The opened spool: it holds the notes of what waits, and its bound holds for both. */
  readonly spool: Spool;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the files are; the machine's own where left out. */
  readonly disk?: Disk;
}

/** The bytes of an artifact, wherever they are, and how they are put into the keep. */
interface Content {
  readonly bytes: number;
  write(id: string): Promise<string>;
}

/** Each has a note in the spool, which is gone through at every start. */
const MAX_ARTIFACTS = 10_000;
const WITHOUT_DIGEST = artifactBeginSchema.omit({ sha256: true });

/**
 * Artifacts that wait for the service: their bytes in files (or in memory), and for each a note in
 * the spool, which is written when the file is whole. So after any end of the process there is
 * either both, or a file without a note, which the next start removes.
 *
 * @throws VedetteError of code DATA_DIR_UNUSABLE where the folder cannot be read
 */
export async function openArtifactOutbox(
  options: OutboxOptions,
): Promise<ArtifactOutbox & ArtifactContents> {
  const { dataDir, disk = systemDisk } = options;
  const keep = dataDir === null ? memoryArtifactFiles(disk) : diskArtifactFiles(dataDir, disk);
  const outbox = new Outbox({ ...options, disk }, keep);
  await outbox.takeOver();
  return outbox;
}

class Outbox implements ArtifactOutbox, ArtifactContents, BesideSpool {
  readonly #options: Required<OutboxOptions>;
  readonly #keep: ArtifactFiles;
  /** Bytes by id, oldest first. */
  readonly #held = new Map<string, number>();
  readonly #throttled: ThrottledLog;
  readonly #adding = new Map<string, Promise<AddedArtifact>>();
  #bytes = 0;
  #isOpen: boolean = true;

  constructor(options: Required<OutboxOptions>, keep: ArtifactFiles) {
    this.#options = options;
    this.#keep = keep;
    this.#throttled = new ThrottledLog(options.clock, options.log, { repeats: false });
  }

  get bytes(): number {
    return this.#bytes;
  }

  async takeOver(): Promise<void> {
    const { spool } = this.#options;
    for (const { id, bytes } of await this.#keep.found()) {
      if (spool.has('artifact-note', id)) this.#hold(id, bytes);
      else await this.#keep.remove(id);
    }
    spool.share(this);
  }

  add(artifact: NewArtifact): Promise<AddedArtifact> {
    const { bytes } = artifact;
    const write = (id: string): Promise<string> => this.#keep.write(id, bytes);
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
      const write = (): Promise<string> => this.#keep.copy(id, path, bytes);
      return await this.#add(id, artifact, { bytes, write });
    });
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#adding.values());
  }

  async isWhole(id: string, bytes: number): Promise<boolean> {
    return (await this.#keep.size(id)) === bytes;
  }

  read(id: string, from: number, bytes: number): Pieces {
    return this.#keep.read(id, from, bytes);
  }

  async remove(id: string): Promise<void> {
    this.#bytes -= this.#held.get(id) ?? 0;
    this.#held.delete(id);
    await this.#keep.remove(id);
  }

  async shed(bytes: number): Promise<void> {
    const before = this.#held.size;
    for (let shed = 0; shed < bytes; ) {
      const [oldest] = this.#held;
      if (oldest === undefined) break;
      shed += oldest[1];
      this.#options.spool.discard('artifact-note', oldest[0], 'space');
      await this.remove(oldest[0]);
    }
    if (this.#held.size === before) return;
    this.#throttled.warn(
      'full',
      {},
      'there is no room for all artifacts: the oldest are dropped (vedette_spool_dropped_total counts them)',
    );
  }

  #addOnce(
    { resultId, name }: AboutArtifact,
    add: (id: string) => Promise<AddedArtifact>,
  ): Promise<AddedArtifact> {
    const id = artifactIdOf(resultId, name);
    if (this.#held.has(id)) return Promise.resolve(assetOf(id));
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
    await this.#forgetLost();
    if (!(await this.#reserve(bytes))) return refused('there is no room for it');
    let sha256: string;
    try {
      sha256 = await content.write(id);
    } catch (error) {
      return refused(messageOf(error));
    } finally {
      this.#bytes -= bytes;
    }
    this.#hold(id, bytes);
    const { spool, clock } = this.#options;
    const body = Buffer.from(JSON.stringify({ ...begin, sha256 } satisfies ArtifactBegin));
    spool.put({ kind: 'artifact-note', id, atMs: clock.wallMs(), body });
    return assetOf(id);
  }

  /**
   * Takes the room before the bytes are written, or what is added meanwhile would take it as well.
   * False where it is not to be had even if nothing else waited.
   */
  async #reserve(bytes: number): Promise<boolean> {
    const free = (): number =>
      Math.min(this.#options.spool.freeBytes, this.#keep.maxBytes - this.#bytes);
    const held = [...this.#held.values()].reduce((sum, each) => sum + each, 0);
    if (bytes > free() + held) return false;
    while (bytes > free() || this.#held.size >= MAX_ARTIFACTS) {
      if (this.#held.size === 0) return false;
      await this.shed(1);
    }
    this.#bytes += bytes;
    return true;
  }

  /** The spool drops notes for their age or for damage, and does not know of the files. */
  async #forgetLost(): Promise<void> {
    const { spool } = this.#options;
    for (const id of [...this.#held.keys()]) {
      if (!spool.has('artifact-note', id)) await this.remove(id);
    }
  }

  #hold(id: string, bytes: number): void {
    this.#held.set(id, bytes);
    this.#bytes += bytes;
  }
}

function assetOf(id: string): AddedArtifact {
  return { ok: true, asset: `/v1/artifacts/${id}` };
}

function refusal(what: string, why: string): AddedArtifact {
  return { ok: false, note: `${what} is not kept: ${why}` };
}

/** What the upload begins with, but for the digest; null where the service would never take it. */
function beginOf(about: AboutArtifact, bytes: number): Omit<ArtifactBegin, 'sha256'> | null {
  const { resultId, checkId, name } = about;
  for (const contentType of [about.contentType, 'application/octet-stream']) {
    const begin = { resultId, checkId, name, contentType, bytes };
    if (WITHOUT_DIGEST.safeParse(begin).success) return begin;
  }
  return null;
}
