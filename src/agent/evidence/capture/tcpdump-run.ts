import type { Readable } from 'node:stream';
import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { EvidenceProcess, EvidenceProcessEnd } from '../evidence-process.ts';
import type { CaptureOutcome } from './capture.ts';
import { PcapCollector } from './pcap-collector.ts';

/** Time limit of the start of tcpdump, which takes 20 ms on an idle machine. */
const START_MS = 3000;
/** Packets in flight: waits until none has arrived for QUIET_MS, at most MAX_DRAIN_MS. */
const QUIET_MS = 100;
const MAX_DRAIN_MS = 500;
/** Time for its last output before it is killed, and again before the run stops waiting for it. */
const FLUSH_MS = 500;

/** Longer output is cut at its beginning. */
const MAX_TEXT_CHARACTERS = 4096;
/** Maximum length of the output in a sentence of the job log. */
const MAX_SUMMARY_CHARACTERS = 200;

/** The first reason for its end; null while it runs. */
type EndedBy = 'itself' | 'start' | 'stop' | 'limit' | 'full' | 'signal' | null;

export interface TcpdumpBounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limitMs: number;
  readonly maxBytes: number;
}

/** One tcpdump process, from its start to its end. Nothing here rejects. */
export class TcpdumpRun {
  readonly #process: EvidenceProcess;
  readonly #clock: Clock;
  readonly #collector: PcapCollector;
  readonly #messages: TcpdumpMessages;
  /** Resolves when all its output is read; null if it could not be ended. */
  readonly #gone: Promise<EvidenceProcessEnd | null>;
  readonly #goneSignal = new AbortController();
  readonly #cancels: (() => void)[] = [];
  #giveUp: () => void = () => {};
  #endedBy: EndedBy = null;
  #lastPieceMs: number;
  #stopped: Promise<CaptureOutcome> | null = null;

  constructor(process: EvidenceProcess, { clock, signal, limitMs, maxBytes }: TcpdumpBounds) {
    this.#process = process;
    this.#clock = clock;
    this.#lastPieceMs = clock.monotonicMs();
    this.#collector = new PcapCollector(maxBytes);
    this.#messages = new TcpdumpMessages(process.stderr);
    process.stdout.on('data', (piece: Uint8Array) => {
      this.#lastPieceMs = clock.monotonicMs();
      if (this.#collector.write(piece) === 'enough') this.#end('full');
    });
    this.#gone = this.#untilGone();
    this.#cancels.push(clock.after(limitMs, () => this.#end('limit')));
    const onAbort = (): void => this.#end('signal');
    signal.addEventListener('abort', onAbort, { once: true });
    this.#cancels.push(() => signal.removeEventListener('abort', onAbort));
    if (signal.aborted) onAbort();
  }

  /** null once packets are captured; otherwise why not, after the process has ended. */
  async listening(): Promise<string | null> {
    const late = new AbortController();
    const cancelLate = this.#clock.after(START_MS, () => late.abort());
    const isUp = await Promise.race([
      this.#messages.listening.then(() => true),
      this.#gone.then(() => false),
      new Promise<boolean>((resolve) => {
        late.signal.addEventListener('abort', () => resolve(false), { once: true });
      }),
    ]);
    cancelLate();
    if (isUp && (this.#endedBy === null || this.#endedBy === 'full')) return null;
    this.#end('start');
    const end = await this.#gone;
    if (this.#endedBy === 'itself') return this.#whyItEnded(end);
    if (this.#endedBy === 'start') return `tcpdump did not begin within ${START_MS / 1000} s`;
    return 'tcpdump was ended before it began';
  }

  /** Ends it after packets in flight have arrived. A second call returns the same result. */
  stop(): Promise<CaptureOutcome> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends it at once; false if that is impossible. */
  async kill(): Promise<boolean> {
    this.#end('signal');
    return (await this.#gone) !== null;
  }

  async #stop(): Promise<CaptureOutcome> {
    await this.#drain();
    this.#end('stop');
    const end = await this.#gone;
    const { bytes, packets, truncated, problem } = this.#collector;
    if (end === null) return { ok: false, note: 'tcpdump could not be ended' };
    if (this.#endedBy === 'itself' && end.code !== 0) {
      return { ok: false, note: this.#whyItEnded(end) };
    }
    if (bytes.length === 0) return { ok: false, note: problem ?? 'tcpdump wrote nothing' };
    const { dropped } = this.#messages;
    // Without the spare capacity of the buffer: it may wait for hours.
    const own = Buffer.allocUnsafeSlow(bytes.length);
    own.set(bytes);
    const captured = { bytes: own, packets, truncated, dropped };
    return { ok: true, captured };
  }

  async #drain(): Promise<void> {
    const beganMs = this.#clock.monotonicMs();
    this.#lastPieceMs = beganMs;
    while (this.#endedBy === null) {
      const nowMs = this.#clock.monotonicMs();
      const untilMs = Math.min(this.#lastPieceMs + QUIET_MS, beganMs + MAX_DRAIN_MS);
      if (nowMs >= untilMs) return;
      if (!(await sleep(this.#clock, untilMs - nowMs, this.#goneSignal.signal))) return;
    }
  }

  /** The first reason counts. `signal` and `start` leave no time to write the last output. */
  #end(by: Exclude<EndedBy, 'itself' | null>): void {
    const isAtOnce = by === 'signal' || by === 'start';
    if (this.#endedBy !== null && !isAtOnce) return;
    this.#endedBy ??= by;
    if (this.#goneSignal.signal.aborted) return;
    if (isAtOnce) this.#killOrGiveUp();
    else {
      this.#process.interrupt();
      this.#cancels.push(this.#clock.after(FLUSH_MS, () => this.#killOrGiveUp()));
    }
  }

  /** We may lack the right to kill a process that changed its user: no run waits for it forever. */
  #killOrGiveUp(): void {
    void this.#process.kill();
    this.#cancels.push(this.#clock.after(FLUSH_MS, () => this.#giveUp()));
  }

  async #untilGone(): Promise<EvidenceProcessEnd | null> {
    const { ended, stdout, stderr } = this.#process;
    const givenUp = new Promise<null>((resolve) => {
      this.#giveUp = () => resolve(null);
    });
    const exited = ended.then((end) => {
      this.#endedBy ??= 'itself';
      return end;
    });
    const whole = Promise.all([exited, closed(stdout), closed(stderr)]).then(([end]) => end);
    const end = await Promise.race([whole, givenUp, exited.then((end) => this.#afterFlush(end))]);
    // Once its output is closed, it ends with the next packet at the latest.
    stdout.destroy();
    stderr.destroy();
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#goneSignal.abort();
    return end;
  }

  /** Another process may still have its pipes open: waits for them for a limited time. */
  #afterFlush(end: EvidenceProcessEnd): Promise<EvidenceProcessEnd> {
    return new Promise((resolve) => {
      if (this.#goneSignal.signal.aborted) resolve(end);
      else this.#cancels.push(this.#clock.after(FLUSH_MS, () => resolve(end)));
    });
  }

  #whyItEnded(end: EvidenceProcessEnd | null): string {
    if (end === null) return 'tcpdump could not be ended';
    if (end.startError !== null) return `tcpdump could not be started: ${end.startError}`;
    const { summary } = this.#messages;
    if (summary !== '') return summary;
    return `tcpdump ended by itself (${end.signal ?? `exit code ${end.code}`})`;
  }
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', () => resolve());
  });
}

/** Reads the stderr of tcpdump: whether it listens or why not, and its counters at the end. */
class TcpdumpMessages {
  /** Resolves once tcpdump listens; otherwise never. */
  readonly listening: Promise<void>;
  #text = '';

  constructor(stderr: Readable) {
    this.listening = new Promise((resolve) => {
      stderr.setEncoding('utf8').on('data', (text: string) => {
        this.#text = (this.#text + text).slice(-MAX_TEXT_CHARACTERS);
        // Its first bytes on stdout prove nothing: tcpdump writes them even if it then fails.
        if (/^tcpdump[^:]*: listening on /m.test(this.#text)) resolve();
      });
    });
  }

  /** In one line, cut to fit a sentence; empty if there is no output. */
  get summary(): string {
    const lines = this.#text
      .split('\n')
      .filter((line) => !/: (?:data link type|listening on) /.test(line));
    const summary = lines.join(' ').replace(/\s+/g, ' ').trim();
    return summary.length > MAX_SUMMARY_CHARACTERS
      ? `${summary.slice(0, MAX_SUMMARY_CHARACTERS)}…`
      : summary;
  }

  get dropped(): number | null {
    const count = /^(\d+) packets? dropped by kernel/m.exec(this.#text)?.[1];
    return count === undefined ? null : Number(count);
  }
}
