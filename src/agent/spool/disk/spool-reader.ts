import type { FileSystem } from '../../../runtime/files/file-system.ts';
import type { RecordDropper } from '../drop-records.ts';
import type { Content, Entry } from '../entry.ts';
import type { SpooledRecord, SpoolLost, SpoolSlots } from '../spool.ts';
import type { SpoolIndex } from '../spool-index.ts';
import type { SpoolLog } from '../spool-log.ts';
import { readEntryContents, readSlots } from './read-entries.ts';

export interface SpoolReaderParts {
  readonly index: SpoolIndex;
  readonly bounds: Pick<RecordDropper, 'drop'>;
  readonly disk: FileSystem;
  readonly spoolLog: SpoolLog;
  readonly onLost: SpoolLost;
}

/** Reads waiting records from memory or disk. Drops and counts damaged ones. */
export class SpoolReader {
  readonly #parts: SpoolReaderParts;
  #damagedFiles = 0;

  constructor(parts: SpoolReaderParts) {
    this.#parts = parts;
  }

  /** The number of damaged files found while reading. */
  get damagedFiles(): number {
    return this.#damagedFiles;
  }

  /**
   * The oldest entries with a key above `after`, of `maxBytes` or a single one.
   *
   * @param onlyDurable stop at the first entry that is in memory only: it will soon be on disk
   */
  choose(maxBytes: number, after: number, onlyDurable: boolean): readonly Entry[] {
    const entries: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#parts.index.after(after)) {
      bytes += entry.bytes;
      if (entries.length > 0 && bytes > maxBytes) break;
      if (entry.segment === null && onlyDurable) break;
      entries.push(entry);
    }
    return entries;
  }

  /** Whether `choose` would return entries. */
  finds(after: number, onlyDurable: boolean): boolean {
    const next = this.#parts.index.after(after).next().value;
    return next !== undefined && (next.segment !== null || !onlyDurable);
  }

  /** The entries that still wait and are undamaged. */
  async read(entries: readonly Entry[]): Promise<readonly SpooledRecord[]> {
    const { disk } = this.#parts;
    const contents = await readEntryContents(entries, disk);
    const damaged = entries.filter(
      (entry) => !entry.gone && (contents.get(entry) ?? null) === null,
    );
    const slots = await readSlots(damaged, disk);
    return entries.flatMap((entry) =>
      this.#recordOf(entry, contents.get(entry) ?? null, slots.get(entry) ?? null),
    );
  }

  #recordOf(entry: Entry, content: Content | null, slots: SpoolSlots | null): SpooledRecord[] {
    if (entry.gone) return [];
    const { key, kind, id, segment } = entry;
    if (content !== null) return [{ key, kind, id, ...content }];
    const { bounds, spoolLog, onLost } = this.#parts;
    // Before the drop: the missed slots are on disk with the removal of this record.
    if (slots !== null) onLost(slots);
    bounds.drop(entry, 'damage');
    if (segment === null || segment.damaged) return [];
    segment.damaged = true;
    this.#damagedFiles += 1;
    spoolLog.damaged(segment.path);
    return [];
  }
}
