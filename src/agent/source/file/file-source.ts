import type { RotationRule } from '../../../model/schedule/rotation.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { CheckListener, CheckSource } from '../check-source.ts';
import { FileProblemsError } from '../common/file-problem.ts';
import { fileKindOf, fileStamp } from './file-stamp.ts';
import { fingerprintOf } from './fingerprint.ts';
import { withGroupScripts } from './group-scripts.ts';
import { type LoadOptions, loadCheckFile, requireChecks } from './load-check-file.ts';
import type { CheckFile } from './parse-check-file.ts';

/** The `runLocation` of a file's checks (src/model/README.md, "Results"). */
export const LOCAL = 'local';

/** A file has no other locations to rotate with: every slot is run here. */
const NO_ROTATIONS: ReadonlyMap<string, RotationRule> = new Map();
const NONE_UNANSWERED: ReadonlyMap<string, number> = new Map();
const NO_GROUP_TAGS: ReadonlyMap<string, readonly string[]> = new Map();

/** Interval of the scans of the files. */
export const POLL_MS = 1000;
/** A file that could not be read (no descriptors, no memory) is read again after this time. */
const RETRY_MS = 60_000;
/** Lower while checks run: parsing a long text would falsify their times. */
const MAX_INLINE_RELOAD_CHARS = 4 * 1024;
/** After this many scans, a file that keeps changing is read. */
const MAX_UNSETTLED_POLLS = 10;

export interface FileSourceOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly workerUrl?: URL;
  /**
   * Whether an agent runs the checks without a service. Then a file without checks is refused, and
   * the checks have the scripts of their groups: the agent ignores everything else in the other
   * sections.
   */
  readonly runsAlone?: boolean;
}

/**
 * Checks from a file that is read again when it, or a PEM file that it names, changes. The first
 * reading begins here already, in parallel with the rest of the agent's start.
 *
 * Polls the files once a second rather than relying on the system's notifications, which miss
 * network file systems, bind mounts, and the swapped links by which Kubernetes updates a ConfigMap.
 * A change is read once two consecutive scans find the same state: a half-written file could be a
 * valid one with fewer checks.
 *
 * `watch` throws the error of loadCheckFile for the first load. Later, the last valid set stays in
 * use if the file is invalid or missing. Each problem, and its end, is logged once.
 */
export function createFileSource(options: FileSourceOptions): CheckSource {
  let checkFileUsable: boolean | null = null;
  const onUsable = (isUsable: boolean): void => {
    checkFileUsable = isUsable;
  };
  const file = new WatchedFile(options, onUsable);
  return {
    watch: (listener, signal) => file.watch(listener, signal),
    get checkFileUsable() {
      return checkFileUsable;
    },
  };
}

class WatchedFile {
  readonly #options: FileSourceOptions;
  /** Called after each reading. */
  readonly #onUsable: (isUsable: boolean) => void;
  readonly #first: Promise<CheckFile>;
  readonly #stop = new AbortController();
  readonly #signal = this.#stop.signal;
  #files: readonly string[];
  #checkFile: CheckFile | null = null;
  /** The state of the files at the last reading. */
  #readStamp: string | null = null;
  /** A new state that only one scan has found. */
  #newStamp: string | null = null;
  #unsettledPolls = 0;
  #retryAtMs = Number.POSITIVE_INFINITY;
  /** The last logged problems; null after a valid file. */
  #loggedProblems: string | null = null;

  constructor(options: FileSourceOptions, onUsable: (isUsable: boolean) => void) {
    this.#options = options;
    this.#onUsable = onUsable;
    this.#files = [options.file];
    this.#first = this.#readFirst();
    // `watch` rejects with it; without a call to `watch` it does not matter.
    this.#first.catch(() => {});
  }

  async watch(listener: CheckListener, signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.#accept(await this.#first, listener);
    } catch (thrown) {
      if (!this.#signal.aborted) throw thrown;
    }
    const { clock } = this.#options;
    while (await sleep(clock, POLL_MS, this.#signal)) await this.#poll(listener);
  }

  async #readFirst(): Promise<CheckFile> {
    this.#readStamp = await fileStamp(this.#files);
    return this.#load({});
  }

  async #poll(listener: CheckListener): Promise<void> {
    const stamp = await fileStamp(this.#files);
    if (stamp === this.#readStamp && this.#options.clock.monotonicMs() < this.#retryAtMs) {
      this.#newStamp = null;
      this.#unsettledPolls = 0;
      return;
    }
    const settled = stamp === this.#newStamp || stamp === this.#readStamp;
    if (!settled && this.#unsettledPolls < MAX_UNSETTLED_POLLS) {
      this.#newStamp = stamp;
      this.#unsettledPolls += 1;
      return;
    }
    this.#newStamp = null;
    this.#unsettledPolls = 0;
    this.#readStamp = stamp;
    await this.#reload(listener);
  }

  /** Whether the files contain the same as before, written differently. */
  async #isSame(before: CheckFile, after: CheckFile): Promise<boolean> {
    const one = before.fingerprint ?? (await fingerprintOf(before));
    const other = after.fingerprint ?? (await fingerprintOf(after));
    return one !== null && one === other;
  }

  async #reload(listener: CheckListener): Promise<void> {
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    try {
      const bounds = { maxInlineChars: MAX_INLINE_RELOAD_CHARS, maxPlainChars: 0 };
      await this.#accept(await this.#load(bounds), listener);
    } catch (thrown) {
      if (this.#signal.aborted) return;
      this.#refuse(thrown);
    }
  }

  async #load(bounds: Pick<LoadOptions, 'maxInlineChars' | 'maxPlainChars'>): Promise<CheckFile> {
    const { file, workerUrl } = this.#options;
    // Opening a pipe waits for its writer, possibly forever, and cannot be cancelled.
    if ((await fileKindOf(file)) === 'other') {
      const message = `${file} is not a regular file, so it cannot be watched for changes`;
      throw new VedetteError('input', 'CHECK_FILE_UNREADABLE', message);
    }
    const options: LoadOptions = { ...bounds, signal: this.#signal };
    const read = await loadCheckFile(
      file,
      workerUrl === undefined ? options : { ...options, workerUrl },
    );
    if (this.#options.runsAlone === true) requireChecks(read, file);
    return read;
  }

  async #accept(checkFile: CheckFile, listener: CheckListener): Promise<void> {
    const { log, file, runsAlone = false } = this.#options;
    const before = this.#checkFile;
    this.#checkFile = checkFile;
    this.#files = [file, ...checkFile.pemFiles];
    this.#onUsable(true);
    // At the level of the problem: whoever saw it must also see its end.
    if (this.#loggedProblems !== null) log.warn({ file }, 'the check file can be used again');
    this.#loggedProblems = null;
    if (before !== null && (await this.#isSame(before, checkFile))) return;
    if (this.#signal.aborted) return;
    const { name: fileName, checks, variables, clientCertificates, resources } = checkFile;
    const what =
      before === null ? 'check file read' : 'check file changed; its checks run from now';
    log.info({ file, checks: checks.length }, what);
    listener.onChecks({
      checks: runsAlone ? withGroupScripts(checks, resources) : checks,
      variables,
      clientCertificates,
      resources,
      fileName,
      rotations: NO_ROTATIONS,
      unanswered: NONE_UNANSWERED,
      proxyUrl: null,
      pauses: [],
      groupTags: NO_GROUP_TAGS,
      location: LOCAL,
    });
  }

  #refuse(thrown: unknown): void {
    const { log, file, clock } = this.#options;
    const isInvalid = thrown instanceof FileProblemsError;
    if (isInvalid) this.#files = [file, ...thrown.pemFiles];
    // Another attempt would need the same memory.
    else if (systemCodeOf(thrown) !== 'CHECK_FILE_TOO_LARGE') {
      this.#retryAtMs = clock.monotonicMs() + RETRY_MS;
    }
    this.#onUsable(false);

    const lines = isInvalid ? thrown.lines() : [messageOf(thrown)];
    const problems = lines.join('\n');
    if (problems === this.#loggedProblems) return;
    this.#loggedProblems = problems;
    const checks = this.#checkFile?.checks.length ?? 0;
    for (const line of lines) {
      const message = `the check file cannot be used, so the previous checks continue: ${line}`;
      log.warn({ file, checks }, message);
    }
  }
}
