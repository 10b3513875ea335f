import type { Spool, SpoolKind, SpoolRecord } from '../../../../../src/agent/spool/spool.ts';

interface Kept {
  readonly kind: SpoolKind;
  readonly id: string;
  /** As it was put. */
  readonly body: Uint8Array;
  /** Reported as on disk. */
  isSafe: boolean;
  /**
   * `asked`: the caller has reported it as accepted. `gone`: the spool has confirmed its removal.
   */
  leave: 'no' | 'asked' | 'gone';
  /** Removed while the disk refused: a restart may restore it. */
  wasRefusing: boolean;
  /** The scenario itself damaged it. */
  isSpoiled: boolean;
  /** Whether the spool had it when its process ended. */
  wasHeld: boolean;
}

interface Counts {
  came: number;
  accepted: number;
  dropped: number;
}

export interface Snapshot {
  readonly put: readonly Kept[];
  readonly left: readonly Kept[];
}

const nameOf = ({ kind, id }: { readonly kind: string; readonly id: string }): string =>
  `${kind} ${id}`;

const isSolid = ({ isSafe, wasHeld, leave, isSpoiled }: Kept): boolean =>
  isSafe && wasHeld && leave === 'no' && !isSpoiled;

/**
 * Everything put, saved and removed in all processes of a spool, to compare with the spool's
 * contents.
 */
export class Ledger {
  readonly problems: string[] = [];
  readonly #kept = new Map<string, Kept>();
  readonly #counts = new Map<SpoolKind, Counts>();
  #spool: Spool | null = null;
  /** Counted while it was opened. */
  #droppedBefore: Spool['dropped'] | null = null;

  /**
   * A spool was opened: compares its contents, and counts its records from now on.
   *
   * @param isAside whether a record of this id is in a file that was moved away unread; null:
   * whether there is such a file
   */
  begin(spool: Spool, isAside: (id: string | null) => boolean): void {
    this.#spool = spool;
    this.#counts.clear();
    this.#droppedBefore = { ...spool.dropped };
    for (const [name, kept] of this.#kept) {
      const { kind, id, leave } = kept;
      const isThere = spool.has(kind, id);
      if (isThere && leave === 'gone' && !isAside(null)) this.problems.push(`${name} came back`);
      const mustBe = isSolid(kept);
      if (mustBe && !isThere && !isAside(id)) this.problems.push(`${name} is lost`);
      kept.isSafe = isThere;
      if (!isThere) continue;
      kept.leave = 'no';
      this.#of(kind).came += 1;
    }
    const put = spool.put.bind(spool);
    spool.put = (record: SpoolRecord) => {
      if (!spool.has(record.kind, record.id)) this.#came(record);
      put(record);
    };
  }

  /** The ids of a kind that were certainly on disk when the previous process ended. */
  solidIds(kind: SpoolKind): ReadonlySet<string> {
    const solid = [...this.#kept.values()].filter((kept) => kept.kind === kind && isSolid(kept));
    return new Set(solid.map(({ id }) => id));
  }

  /** The open spool. */
  get isFailing(): boolean {
    return this.#spool?.state === 'failing';
  }

  countDropped(kind: SpoolKind, count: number): void {
    this.#of(kind).dropped += count;
  }

  spoil(kind: SpoolKind, id: string): void {
    const kept = this.#kept.get(nameOf({ kind, id }));
    if (kept !== undefined) kept.isSpoiled = true;
  }

  /** All records put and accepted so far, to be marked when they are reported as on disk. */
  snapshot(): Snapshot {
    const all = [...this.#kept.values()];
    return {
      put: all.filter(({ leave }) => leave === 'no'),
      left: all.filter(({ leave }) => leave === 'asked'),
    };
  }

  /** @param keepsDoubts records accepted while the disk refused may still return */
  onDisk({ put, left }: Snapshot, keepsDoubts: boolean): void {
    for (const kept of put) kept.isSafe = true;
    for (const kept of left) {
      if (!(keepsDoubts && kept.wasRefusing)) kept.leave = 'gone';
    }
  }

  /** Tells the spool to remove them; resolves with its confirmation. */
  async accept(
    spool: Spool,
    records: readonly { readonly kind: SpoolKind; readonly id: string; readonly key: number }[],
  ): Promise<void> {
    const held = records.filter(({ kind, id }) => spool.has(kind, id));
    const wasDurable = spool.state === 'durable';
    const done = spool.accepted(records.map(({ key }) => key));
    const left: Kept[] = [];
    for (const record of held) {
      if (spool.has(record.kind, record.id)) continue;
      this.#of(record.kind).accepted += 1;
      const kept = this.#kept.get(nameOf(record));
      if (kept === undefined) continue;
      kept.leave = 'asked';
      kept.wasRefusing = !wasDurable;
      left.push(kept);
    }
    await done;
    // A failing spool answers at once.
    const isDurable = wasDurable && spool.state === 'durable';
    for (const kept of left) {
      if (isDurable) kept.leave = 'gone';
      else kept.wasRefusing = true;
    }
  }

  /** The process has ended, in any way: everything must be accounted for. */
  endLife(): void {
    const spool = this.#spool;
    if (spool === null) return;
    this.#spool = null;
    const held = new Map<SpoolKind, number>();
    for (const kept of this.#kept.values()) {
      kept.wasHeld = spool.has(kept.kind, kept.id);
      if (kept.wasHeld) held.set(kept.kind, (held.get(kept.kind) ?? 0) + 1);
    }
    for (const [kind, { came, accepted, dropped }] of this.#counts) {
      const there = held.get(kind) ?? 0;
      if (came !== accepted + dropped + there) {
        this.problems.push(
          `of ${came} ${kind}, ${accepted} were accepted, ${dropped} counted as dropped and ${there} are there`,
        );
      }
      const counted = spool.dropped[kind] - (this.#droppedBefore?.[kind] ?? 0);
      if (counted !== dropped) {
        this.problems.push(`${counted} ${kind} dropped, but ${dropped} reported`);
      }
    }
    const depth = [...held.values()].reduce((sum, count) => sum + count, 0);
    if (spool.depth.records !== depth) {
      this.problems.push(`the depth is ${spool.depth.records}, but ${depth} are there`);
    }
  }

  /** The open spool's records can be read, each once and unchanged. */
  compare(found: readonly SpoolRecord[]): void {
    this.#compareEach(found);
    const there = new Set(found.map(nameOf));
    for (const kept of this.#kept.values()) {
      const isHeld = this.#spool?.has(kept.kind, kept.id) === true;
      if (kept.isSafe && isHeld && !there.has(nameOf(kept))) {
        this.problems.push(`${nameOf(kept)} is held, and cannot be read`);
      }
    }
  }

  #compareEach(found: readonly SpoolRecord[]): void {
    const seen = new Set<string>();
    for (const record of found) {
      const name = nameOf(record);
      const kept = this.#kept.get(name);
      if (kept === undefined) this.problems.push(`${name} was never put`);
      else if (Buffer.compare(kept.body, record.body) !== 0) {
        this.problems.push(`${name} is not as it was put`);
      }
      if (seen.has(name)) this.problems.push(`${name} is there twice`);
      seen.add(name);
    }
  }

  #came({ kind, id, body }: SpoolRecord): void {
    this.#of(kind).came += 1;
    this.#kept.set(nameOf({ kind, id }), {
      kind,
      id,
      body,
      isSafe: false,
      leave: 'no',
      wasRefusing: false,
      isSpoiled: false,
      wasHeld: false,
    });
  }

  #of(kind: SpoolKind): Counts {
    const counts = this.#counts.get(kind) ?? { came: 0, accepted: 0, dropped: 0 };
    this.#counts.set(kind, counts);
    return counts;
  }
}
