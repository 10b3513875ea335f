import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DiskSpool } from '../../../../../src/agent/spool/disk/disk-spool.ts';
import type { Spool, SpooledRecord, SpoolRecord } from '../../../../../src/agent/spool/spool.ts';
import {
  type AddedArtifact,
  type ArtifactContents,
  type ArtifactOutbox,
  openArtifactOutbox,
} from '../../../../../src/agent/upload/artifact-outbox.ts';
import { VedetteError } from '../../../../../src/runtime/errors.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { must, type Stage, settle } from './stage.ts';

/** Small, so that few records fill it. A file has at most 4 KiB, a write at most 32 KiB. */
export const MAX_BYTES = 128 * 1024;
export const MAX_MEMORY_BYTES = 40 * 1024;
const DAY_MS = 24 * 3_600_000;
/** A stalled call is answered after this many steps of the scenario. */
const STALLED_STEPS = 4;

/** One process with a spool and its artifacts, from opening to end. */
export class Life {
  readonly stage: Stage;
  readonly spool: Spool;
  readonly outbox: ArtifactOutbox & ArtifactContents;
  readonly #pending = new Set<Promise<unknown>>();
  #stalledFor = 0;
  #isClosing: boolean = false;

  /** Opens, with one retry, and compares the contents. */
  static async begin(stage: Stage): Promise<Life> {
    const { ledger, disk } = stage;
    const firedBefore = disk.fired;
    for (let tries = 1; ; tries += 1) {
      const opened = await must(stage, open(stage));
      if (opened.state === 'done') {
        const life = new Life(stage, opened.value);
        const notes = ledger.solidIds('artifact-note');
        const lost = Object.values(life.spool.dropped).reduce((sum, count) => sum + count, 0);
        ledger.begin(life.spool, (id) => isAside(stage, id));
        if (!(stage.isDamaged || mayBeDamaged(stage)) && lost > 0) {
          ledger.problems.push(`it counts ${lost} as lost to damage where there is none`);
        }
        life.#compareFiles();
        if (!(stage.isDamaged || mayBeDamaged(stage)) && life.spool.damagedFiles > 0) {
          ledger.problems.push('it finds damage where there is none');
        }
        await life.#compareArtifacts(await life.compare(), notes);
        return life;
      }
      const { error } = opened;
      const isExpected = disk.fired !== firedBefore && error instanceof VedetteError;
      if (!isExpected || tries > 1) {
        ledger.problems.push(`it does not start: ${String(error)}`);
        throw error;
      }
      stage.reported.add(`open ${error.code}`);
    }
  }

  private constructor(
    stage: Stage,
    { spool, outbox }: { spool: Spool; outbox: ArtifactOutbox & ArtifactContents },
  ) {
    this.stage = stage;
    this.spool = spool;
    this.outbox = outbox;
  }

  put(record: SpoolRecord): void {
    this.spool.put(record);
  }

  /** Waits until all records are on disk, unless the disk does not answer. */
  async commit(): Promise<void> {
    await this.step(this.#committed());
  }

  /** Reads and checks all records. */
  async compare(): Promise<readonly SpooledRecord[]> {
    const all = await this.#readAll();
    this.stage.ledger.compare(all);
    return all;
  }

  /** Like the uploader after the service has accepted them. */
  async accept(records: readonly SpooledRecord[]): Promise<void> {
    await this.step(this.stage.ledger.accept(this.spool, records));
  }

  async keep(artifact: Parameters<ArtifactOutbox['add']>[0]): Promise<void> {
    await this.step(this.#heard(this.outbox.add(artifact)));
  }

  async keepFile(artifact: Parameters<ArtifactOutbox['addFile']>[0]): Promise<void> {
    await this.step(this.#heard(this.outbox.addFile(artifact)));
  }

  /** Reads an artifact, compares it and releases it. */
  async send(note: SpooledRecord): Promise<void> {
    await this.step(this.#send(note));
  }

  /** Waits for it while the disk answers. */
  async step(work: Promise<unknown>): Promise<void> {
    const { disk } = this.stage;
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
    const settled = await settle(this.stage, tracked);
    if (settled.state === 'failed') this.stage.ledger.problems.push(`${String(settled.error)}`);
    if (settled.state === 'open' && !disk.isStalled) {
      this.stage.ledger.problems.push('something does not end');
      throw new Error('it hangs');
    }
    this.#stalledFor = disk.isStalled ? this.#stalledFor + 1 : 0;
    if (this.#stalledFor >= STALLED_STEPS) disk.release();
  }

  async close(): Promise<void> {
    const { disk, ledger, clock } = this.stage;
    // Senders have ended by then. Callers that wait for a refusing disk have not.
    disk.release();
    for (const pending of [...this.#pending]) await settle(this.stage, pending);
    await must(this.stage, this.outbox.close());
    // The last records before the end, which the end writes.
    const snapshot = ledger.snapshot();
    this.#isClosing = true;
    const closed = await must(this.stage, this.spool.close());
    if (closed.state === 'failed') {
      ledger.problems.push(`it does not close: ${String(closed.error)}`);
    }
    for (const pending of this.#pending) await must(this.stage, pending);
    if (this.spool.state === 'durable') ledger.onDisk(snapshot, this.#keepsDoubts);
    ledger.endLife();
    if (disk.openFiles > 0) ledger.problems.push(`${disk.openFiles} files stay open`);
    if (clock.pendingTimers > 0) ledger.problems.push(`${clock.pendingTimers} timers stay`);
  }

  /** If frames could not be truncated again, records accepted meanwhile may return. */
  get #keepsDoubts(): boolean {
    return this.stage.disk.fired?.method === 'truncate';
  }

  async #committed(): Promise<void> {
    const snapshot = this.stage.ledger.snapshot();
    await this.spool.committed();
    // Closing ends all waits, whatever their outcome.
    if (!this.#isClosing) this.stage.ledger.onDisk(snapshot, this.#keepsDoubts);
  }

  /** All records that can be read; waits for the disk to answer. */
  async #readAll(): Promise<SpooledRecord[]> {
    const all: SpooledRecord[] = [];
    for (let refusals = 0; ; ) {
      const read = await must(this.stage, this.spool.batch(MAX_BYTES, all.at(-1)?.key));
      if (read.state === 'done' && read.value.length === 0) return all;
      if (read.state === 'done') all.push(...read.value);
      else {
        refusals += 1;
        const { error } = read;
        const isExpected = error instanceof VedetteError && error.code === 'SPOOL_UNREADABLE';
        if (!isExpected || refusals > 1) {
          this.stage.ledger.problems.push(`it cannot be read: ${String(error)}`);
          return all;
        }
        this.stage.reported.add('batch SPOOL_UNREADABLE');
      }
    }
  }

  async #heard(adding: Promise<AddedArtifact>): Promise<void> {
    const { disk, reported } = this.stage;
    const { fired } = disk;
    const { ok } = await adding;
    // Ignore the scenario's own damage.
    if (!ok && (disk.refuses === null || disk.fired !== fired)) reported.add('artifact refused');
  }

  async #send(note: SpooledRecord): Promise<void> {
    const { id, body } = note;
    const { bytes } = JSON.parse(Buffer.from(body).toString()) as { bytes: number };
    let isWhole: boolean;
    const content: Buffer[] = [];
    try {
      isWhole = await this.outbox.isWhole(id, bytes);
      for await (const piece of this.outbox.read(id, 0, isWhole ? bytes : 0)) {
        content.push(Buffer.from(piece));
      }
    } catch {
      this.stage.reported.add('artifact unreadable');
      return;
    }
    if (!isWhole) {
      this.spool.discard('artifact-note', id, 'damage');
    } else {
      if (!Buffer.concat(content).equals(artifactBytes(bytes))) {
        this.stage.ledger.problems.push(`artifact ${id} is not as it was kept`);
      }
      await this.stage.ledger.accept(this.spool, [note]);
    }
    await this.outbox.remove(id);
  }

  /** Each note has its file. */
  async #compareArtifacts(
    found: readonly SpooledRecord[],
    solidIds: ReadonlySet<string>,
  ): Promise<void> {
    const { ledger } = this.stage;
    const notes = found.filter(({ kind }) => kind === 'artifact-note');
    for (const { id, body } of notes) {
      const { bytes } = JSON.parse(Buffer.from(body).toString()) as { bytes: number };
      const whole = await must(this.stage, this.outbox.isWhole(id, bytes));
      if (whole.state === 'failed') this.stage.reported.add('artifact unreadable');
      else if (whole.value) continue;
      // The sender drops an artifact whose file was deleted before its note.
      else if (!solidIds.has(id)) ledger.spoil('artifact-note', id);
      else ledger.problems.push(`artifact ${id} is not whole`);
    }
  }

  /** There is no file without a note right after opening. */
  #compareFiles(): void {
    const { ledger, dataDir, disk } = this.stage;
    const folder = join(dataDir, 'artifacts');
    for (const name of namesIn(folder)) {
      const isExcused = disk.fired?.name === 'unlink artifact';
      if (!this.spool.has('artifact-note', name) && !isExcused)
        ledger.problems.push(`artifact ${name} has no note`);
    }
  }
}

/** An artifact of this many bytes. */
export function artifactBytes(bytes: number): Buffer {
  return Buffer.alloc(bytes, `bytes of ${bytes}. `);
}

async function open(
  stage: Stage,
): Promise<{ spool: Spool; outbox: ArtifactOutbox & ArtifactContents }> {
  const { dataDir, disk, clock, ledger } = stage;
  const capture = captureLog();
  stage.logs.push(capture);
  const { log } = capture;
  const spool = await DiskSpool.open({
    dataDir,
    disk,
    clock,
    log,
    onDropped: (kind, count) => ledger.countDropped(kind, count),
    onLost: () => {},
    maxBytes: MAX_BYTES,
    maxAgeMs: 7 * DAY_MS,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    commitDelayMs: 25,
  });
  try {
    return { spool, outbox: await openArtifactOutbox({ dataDir, spool, clock, log, disk }) };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** Only files that cannot be read at the start are moved away unread. */
function mayBeDamaged({ disk }: Pick<Stage, 'disk'>): boolean {
  return /^agent\/spool\/disk\/(recover|scan-file)\.ts:/.test(disk.fired?.site ?? '');
}

function isAside({ dataDir, disk }: Stage, id: string | null): boolean {
  if (!mayBeDamaged({ disk })) return false;
  const folder = join(dataDir, 'spool');
  return namesIn(folder).some((name) => {
    const path = join(folder, name);
    if (!name.startsWith('damaged-') || !statSync(path).isFile()) return false;
    return id === null || readFileSync(path).includes(id);
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
