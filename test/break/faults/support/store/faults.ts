import type {
  Param,
  Row,
  Store,
  Transaction,
  TransactionOptions,
} from '../../../../../src/service/database/store.ts';
import { StoreError, silentRollback } from '../../../../../src/service/database/store-errors.ts';
import { isOfLoop } from './loops.ts';
import { type Asked, whoAsks } from './operations.ts';

/**
 * - `refused`: not executed; the caller gets the error that the database is away
 * - `answer lost`: executed (a commit commits), and the connection breaks before the answer
 * - `stalled`: waits until `release`, and is executed then
 * - `rolled back`: conflicts with another transaction: a retry may succeed
 */
export const FAULT_KINDS = ['refused', 'answer lost', 'stalled', 'rolled back'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** `query` is a single statement; the other three are parts of a transaction. */
export type CallPlace = 'query' | 'begin' | 'statement' | 'commit' | 'listen';

/** A call in a run of a workload. */
export interface StoreCall {
  /** For example `3 statement check-results.ts insertResults #2`: the second of step 3. */
  readonly id: string;
  readonly step: number;
  readonly place: CallPlace;
  readonly operation: string;
  /** Whether a loop of the service made it, without a request. */
  readonly isOfLoop: boolean;
}

export interface Fault {
  /** The name of one call, or of an operation: then its first call, in any step. */
  readonly callId: string;
  readonly place: CallPlace;
  readonly operation: string;
  readonly kind: FaultKind;
}

/** The observations of a run. */
export interface StoreRun {
  readonly calls: readonly StoreCall[];
  readonly through: ReadonlySet<string>;
  /** The faults whose calls occurred. */
  readonly hit: ReadonlySet<Fault>;
}

interface Watch {
  readonly faults: ReadonlyMap<string, Fault>;
  readonly calls: StoreCall[];
  readonly through: Set<string>;
  readonly hit: Set<Fault>;
  /** By name: of all steps, and with the step before it. */
  readonly counts: Map<string, number>;
  step: number;
}

/** The remaining state of a transaction with a failed statement. */
interface Broken {
  error: StoreError | null;
}

/**
 * A database whose given call fails in a given way. Features see the usual store; the statements
 * run on the real one.
 */
export class FaultStore implements Store {
  readonly kind: Store['kind'];
  readonly #real: Store;
  #watch: Watch | null = null;
  readonly #stalls = new Set<() => void>();
  #onStall: (release: () => void) => void = () => {};
  #open = 0;
  #steps = 0;

  constructor(real: Store) {
    this.kind = real.kind;
    this.#real = real;
  }

  /** Statements and transactions in progress. */
  get open(): number {
    return this.#open;
  }

  /** Increases with every beginning and end. */
  get steps(): number {
    return this.#steps;
  }

  /** The number of calls with that name since `begin`. */
  countOf(operation: string): number {
    return this.#watch?.counts.get(operation) ?? 0;
  }

  get isStalled(): boolean {
    return this.#stalls.size > 0;
  }

  /** Records and counts calls from now on, and injects the faults. */
  begin(faults: readonly Fault[], onStall: (release: () => void) => void): void {
    this.#watch = {
      faults: new Map(faults.map((fault) => [fault.callId, fault])),
      calls: [],
      through: new Set(),
      hit: new Set(),
      counts: new Map(),
      step: 0,
    };
    this.#onStall = onStall;
  }

  /** The workload's next step: earlier failures are handled by now. */
  nextStep(): void {
    if (this.#watch !== null) this.#watch.step += 1;
  }

  /** null if none was begun. */
  end(): StoreRun | null {
    const watch = this.#watch;
    this.#watch = null;
    return watch;
  }

  /** Releases all stalled calls. */
  release(): void {
    for (const release of [...this.#stalls]) release();
  }

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<readonly R[]> {
    const kind = this.#note('query', whoAsks());
    return this.#counted(() => this.#apply(kind, () => this.#real.query<R>(text, params)));
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const asked = whoAsks();
    const atBegin = this.#note('begin', asked);
    return this.#counted(() => this.#transact(work, options, asked, atBegin));
  }

  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onGap?: () => void,
  ): Promise<() => Promise<void>> {
    const kind = this.#note('listen', whoAsks());
    return this.#apply(kind, () => this.#real.listen(channel, onNotify, onGap));
  }

  close(): Promise<void> {
    return this.#real.close();
  }

  async #transact<T>(
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions | undefined,
    asked: Asked,
    atBegin: FaultKind | null,
  ): Promise<T> {
    if (atBegin === 'refused' || atBegin === 'answer lost') throw lost();
    if (atBegin === 'stalled') await this.#stalled();
    let rollBack = atBegin === 'rolled back';
    let atCommit: FaultKind | null = null;
    const result = await this.#real.transaction(async (tx) => {
      if (rollBack) {
        rollBack = false;
        throw deadlock();
      }
      const broken: Broken = { error: null };
      const made = await work(this.#watched(tx, broken));
      // Like the real ones: a statement failed, the work continued, and all of it is lost.
      if (broken.error !== null) throw silentRollback();
      atCommit = this.#note('commit', asked);
      if (atCommit === 'stalled') await this.#stalled();
      if (atCommit === 'refused') throw lost();
      if (atCommit === 'rolled back') throw deadlock();
      return made;
    }, options);
    if (atCommit === 'answer lost') throw lost();
    return result;
  }

  #watched(tx: Transaction, broken: Broken): Transaction {
    const run = async <T>(kind: FaultKind | null, work: () => Promise<T>): Promise<T> => {
      if (broken.error !== null) throw broken.error;
      try {
        return await this.#apply(kind, work);
      } catch (thrown) {
        if (thrown instanceof StoreError) broken.error = thrown;
        throw thrown;
      }
    };
    return {
      query: (text, params) =>
        run(this.#note('statement', whoAsks()), () => tx.query(text, params)),
      script: (text) => run(this.#note('statement', whoAsks()), () => tx.script(text)),
    };
  }

  /** Records the call; returns its fault, or null. */
  #note(place: CallPlace, { operation, through }: Asked): FaultKind | null {
    const watch = this.#watch;
    if (watch === null) return null;
    const name = `${place} ${operation}`;
    const { step } = watch;
    const isFirst = count(watch.counts, name) === 1;
    const id = `${step} ${name} #${count(watch.counts, `${step} ${name}`)}`;
    watch.calls.push({ id, step, place, operation: name, isOfLoop: isOfLoop() });
    for (const each of through) watch.through.add(each);
    const fault = watch.faults.get(id) ?? (isFirst ? watch.faults.get(name) : undefined);
    if (fault === undefined) return null;
    watch.hit.add(fault);
    return fault.kind;
  }

  async #apply<T>(kind: FaultKind | null, work: () => Promise<T>): Promise<T> {
    if (kind === 'refused') throw lost();
    if (kind === 'rolled back') throw deadlock();
    if (kind === 'stalled') await this.#stalled();
    const result = await work();
    if (kind === 'answer lost') throw lost();
    return result;
  }

  #stalled(): Promise<void> {
    return new Promise((resolve) => {
      const release = (): void => {
        this.#stalls.delete(release);
        resolve();
      };
      this.#stalls.add(release);
      this.#onStall(release);
    });
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#open += 1;
    this.#steps += 1;
    try {
      return await work();
    } finally {
      this.#open -= 1;
      this.#steps += 1;
    }
  }
}

function count(counts: Map<string, number>, name: string): number {
  const times = (counts.get(name) ?? 0) + 1;
  counts.set(name, times);
  return times;
}

/** Like those of `judge` in store-errors.ts. */
function lost(): StoreError {
  const message = 'the database cannot be reached: Connection terminated unexpectedly';
  return new StoreError('unavailable', 'STORE_CONNECTION', message);
}

function deadlock(): StoreError {
  const message = 'the database answered: deadlock detected (SQLSTATE 40P01)';
  return new StoreError('unavailable', 'STORE_DEADLOCK', message, { sqlState: '40P01' });
}
