import type { Content, Entry } from '../entry.ts';
import type { SpooledRecord, SpoolLost, SpoolSlots } from '../spool.ts';
import type { SpoolBounds } from '../spool-bounds.ts';
import type { SpoolIndex } from '../spool-index.ts';
import type { SpoolLog } from '../spool-log.ts';
import type { Disk } from './disk.ts';
import { readContents, slotsOf } from './read-entries.ts';

export interface SpoolReaderParts {
  readonly index: SpoolIndex;
  readonly bounds: Pick<SpoolBounds, 'drop'>;
  readonly disk: Disk;
  readonly voice: SpoolLog;
  readonly onLost: SpoolLost;
}

/** Reads back what waits, from memory or disk; what is damaged there is dropped, and counted. */
export class SpoolReader {
  readonly #parts: SpoolReaderParts;
  #damagedFiles = 0;

  constructor(parts: SpoolReaderParts) {
    this.#parts = parts;
  }

  /** That were found while reading. */
  get damagedFiles(): number {
    return this.#damagedFiles;
  }

  /**
   * The oldest entries with a key above `after`, of `maxBytes` or a single one.
   *
   * @param onlyDurable those that are in memory, and what came after them, will soon be on disk
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

  /** Whether `choose` would find something. */
  finds(after: number, onlyDurable: boolean): boolean {
    const next = this.#parts.index.after(after).next().value;
    return next !== undefined && (next.segment !== null || !onlyDurable);
  }

  /** Those of the entries that still wait and are whole. */
  async read(entries: readonly Entry[]): Promise<readonly SpooledRecord[]> {
    const { disk } = this.#parts;
    const contents = await readContents(entries, disk);
    const damaged = entries.filter(
      (entry) => !entry.gone && (contents.get(entry) ?? null) === null,
    );
    const slots = await slotsOf(damaged, disk);
    return entries.flatMap((entry) =>
      this.#recordOf(entry, contents.get(entry) ?? null, slots.get(entry) ?? null),
    );
  }

  #recordOf(entry: Entry, content: Content | null, slots: SpoolSlots | null): SpooledRecord[] {
    if (entry.gone) return [];
    const { key, kind, id, segment } = entry;
    if (content !== null) return [{ key, kind, id, ...content }];
    const { bounds, voice, onLost } = this.#parts;
    // What is put for them is on disk with the word that this one left.
    if (slots !== null) onLost(slots);
    bounds.drop(entry, 'damage');
    if (segment === null || segment.damaged) return [];
    segment.damaged = true;
    this.#damagedFiles += 1;
    voice.damaged(segment.path);
    return [];
  }
}
