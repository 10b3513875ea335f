import type { Socket } from 'node:net';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { DeadlineExtension, EXACT_MS } from '../../net/deadline-extension.ts';
import type { SocketState } from '../../net/kernel/kernel-sockets.ts';
import { socketState } from '../../net/kernel/kernel-sockets.ts';
import { MIN_PEER_MS, peerActivity, peerTookMs } from '../../net/kernel/peer-activity.ts';
import { type Limits, limitedWait } from '../../net/limited-wait.ts';
import { failureOfTlsAlert } from '../../net/tls/tls-alerts.ts';
import { shortenedText } from '../../secrets/cut-scrubbed.ts';
import type { ProbeContext } from '../probe.ts';
import { type ReadingEnd, ReceiveBuffer } from './receive-buffer.ts';

/** src/model/README.md, "TCP: `request`". */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Maximum number of received characters that a message quotes. */
const MAX_SHOWN_CHARS = 200;

/**
 * Pause between two evaluations of the assertions on a response that arrives in pieces: not one per
 * byte of a slow peer. It delays no measured time.
 */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 250;
/** A multiple of the last evaluation, so that evaluations take a fifth of the time at most. */
const PAUSE_FACTOR = 4;

/** `cut-short`: the expression got too little CPU time to tell. */
export type StepMatch = 'matches' | 'differs' | 'cut-short';

export interface ExchangeStep {
  /** null sends nothing. */
  readonly send: string | Buffer | null;
  /**
   * Whether the bytes since the last `send` are what the step expects; null: it expects nothing.
   */
  readonly matches: ((bytes: Buffer) => Promise<StepMatch>) | null;
}

export interface TcpExchangeOptions {
  /** The connection below TLS, whose state the kernel knows; without TLS the socket itself. */
  readonly connection: Socket;
  /** How messages name the target. */
  readonly target: string;
  /** Sent first; null sends nothing. */
  readonly data: string | null;
  /** Performed one after the other, after `data` was sent. */
  readonly steps: readonly ExchangeStep[];
  /** After all steps: whether the data so far is complete. null: it is. */
  readonly satisfied: ((data: string) => Promise<boolean>) | null;
  /** Monotonic instant at which the wait for data ends, which is not a failure. */
  readonly untilMs: number;
}

export interface Exchange {
  readonly text: string;
  readonly failure: Failure | null;
  /** The expression of the failed step was cut short, so the peer may not be at fault. */
  readonly isCutShort: boolean;
  /** Milliseconds from the start of the exchange to the first byte; null if none came. */
  readonly firstByteMs: number | null;
  /** Milliseconds from the start to the event that ended it. */
  readonly durationMs: number;
  readonly timedOut: boolean;
  /** The kernel's lower bound of the peer's time; 0 if it was not needed or is not available. */
  readonly peerMs: number;
  /** The state of the connection at the end; null if it is not available. */
  readonly connection: SocketState | null;
}

/**
 * Sends the data and reads until the data is complete, the peer closes, 64 KiB are read or the time
 * is up; none of these is a failure. Then closes the connection. If the connection breaks, or ends
 * before a step received what it expects, returns the failure with the data that had arrived.
 */
export async function exchangeText(
  socket: Socket,
  options: TcpExchangeOptions,
  { clock, signal, log, starvation, scrub }: ProbeContext,
): Promise<Exchange> {
  const { target, data, connection, steps } = options;
  const extension = new DeadlineExtension({ clock, deadlineMs: options.untilMs, starvation });
  let { untilMs } = options;
  let timedOut = false;
  let peerMs = 0;
  const startMs = clock.monotonicMs();
  const received = new ReceiveBuffer(socket, MAX_RESPONSE_BYTES, clock);
  const ended = (text: string, failure: Failure | null, endMs: number): Exchange => ({
    text,
    failure,
    isCutShort: failure?.code === 'STEP_FAILED' && isCutShort,
    firstByteMs: received.firstByteMs === null ? null : received.firstByteMs - startMs,
    durationMs: endMs - startMs,
    timedOut,
    peerMs,
    connection: socketState(starvation?.sockets ?? null, connection),
  });
  /** The last evaluation was cut short. */
  let isCutShort = false;
  let done = 0;
  /** The bytes that had arrived when something was sent last. */
  let sentAfterBytes = 0;
  /** Sends what comes next, up to the step that waits. */
  const proceed = (): void => {
    for (; done < steps.length; done += 1) {
      const step = steps[done];
      if (step === undefined) return;
      if (step.send !== null) {
        sentAfterBytes = received.bytes;
        socket.write(step.send);
        log.info(`step ${done + 1}: sent ${countText(Buffer.byteLength(step.send), 'byte')}`);
      }
      if (step.matches !== null) return;
    }
  };
  const isMet = async (): Promise<boolean> => {
    const matches = steps[done]?.matches ?? null;
    if (matches === null) return (await options.satisfied?.(received.text())) ?? true;
    const match = await matches(received.since(sentAfterBytes));
    isCutShort = match === 'cut-short';
    return match === 'matches';
  };
  const unmetStep = (why: string, cause?: ErrorCode): Failure | null => {
    if (done >= steps.length) return null;
    const bytes = received.since(sentAfterBytes);
    const arrived =
      bytes.length === 0
        ? 'nothing arrived'
        : `${JSON.stringify(shortenedText(bytes.toString('utf8'), MAX_SHOWN_CHARS, scrub))} arrived`;
    const message = `${target} did not send what step ${done + 1} expects: ${arrived}, then ${why}`;
    return { code: 'STEP_FAILED', message, ...(cause === undefined ? {} : { cause }) };
  };
  try {
    if (data !== null) socket.write(data);
    proceed();
    if (steps.length > 0 && done === steps.length && options.satisfied === null) {
      return ended('', null, clock.monotonicMs());
    }
    let evaluatedBytes = 0;
    /** An expression that was cut short is evaluated once more after the end of the data. */
    let isLastEvaluation = false;
    for (;;) {
      const nowMs = clock.monotonicMs();
      if (signal.aborted) {
        const message = `Reading from ${target} was cancelled because the agent stops`;
        return ended(received.text(), { code: 'CANCELLED', message }, nowMs);
      }
      if (nowMs >= untilMs) {
        const moreMs = extension.nextMs(peerActivity(starvation?.sockets ?? null, connection));
        if (moreMs !== null) {
          untilMs = nowMs + moreMs;
          // Without the yield, data that has arrived would not be read.
          if (moreMs === 0) await yieldToEventLoop();
          continue;
        }
        timedOut = true;
        log.info(`${received.bytes} bytes arrived, then the time for them was up`);
        return ended(received.text(), unmetStep('the time was up'), nowMs);
      }
      if (received.bytes > evaluatedBytes) {
        evaluatedBytes = received.bytes;
        const isOver = received.end !== null;
        // Only after a slow answer to a starved agent: otherwise the kernel knows no more than we.
        if (nowMs - startMs >= MIN_PEER_MS && (starvation?.starvedMs ?? 0) >= EXACT_MS) {
          peerMs = peerTookMs(starvation?.sockets ?? null, connection);
        }
        const evaluationStartMs = clock.monotonicMs();
        const text = received.text();
        const lastByteMs = received.lastByteMs ?? nowMs;
        if (await isMet()) {
          if (done >= steps.length) return ended(text, null, lastByteMs);
          log.info(`step ${done + 1}: what it expects arrived`);
          done += 1;
          proceed();
          const isLast = done >= steps.length;
          if (isLast && options.satisfied === null) return ended(text, null, lastByteMs);
          evaluatedBytes = isLast ? 0 : sentAfterBytes;
          continue;
        }
        if (isCutShort && !isLastEvaluation) {
          isLastEvaluation = isOver;
          evaluatedBytes = sentAfterBytes;
        }
        const evaluationEndMs = clock.monotonicMs();
        const pauseEndMs = Math.min(
          untilMs,
          evaluationEndMs + pauseMs(evaluationEndMs - evaluationStartMs),
        );
        await waitForNews(
          { clock, signal, deadlineMs: pauseEndMs },
          received,
          () => received.end !== null,
        );
        continue;
      }
      const { end } = received;
      if (end !== null) {
        log.info(`${received.bytes} bytes arrived, then ${END_WORDS[end.kind]}`);
        const cause = end.kind === 'closed' ? 'CONNECTION_CLOSED' : undefined;
        const failure = failureOf(end, target) ?? unmetStep(END_WORDS[end.kind], cause);
        return ended(received.text(), failure, end.atMs);
      }
      const hasNews = (): boolean => received.end !== null || received.bytes > evaluatedBytes;
      await waitForNews({ clock, signal, deadlineMs: untilMs }, received, hasNews);
    }
  } finally {
    received.close();
  }
}

function pauseMs(evaluationMs: number): number {
  const inProportion = PAUSE_FACTOR * evaluationMs;
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, inProportion));
}

const END_WORDS: Readonly<Record<ReadingEnd['kind'], string>> = {
  closed: 'the peer closed the connection',
  full: 'no more is read',
  broken: 'the connection broke',
};

/** Resolves when `isWanted`, at the deadline, or when the run is cancelled. */
function waitForNews(
  limits: Limits,
  received: ReceiveBuffer,
  isWanted: () => boolean,
): Promise<void> {
  const nothing = { timedOut: () => {}, cancelled: () => {} };
  return limitedWait<void>(limits, nothing, (settle) => {
    const check = (): void => {
      if (isWanted()) settle();
    };
    check();
    return received.watch(check);
  });
}

/** Failures by the operating system's error code while the connection is in use. */
const BROKEN_CODES: Readonly<Record<string, ErrorCode>> = { ETIMEDOUT: 'RESPONSE_TIMEOUT' };

function failureOf({ kind, systemCode }: ReadingEnd, target: string): Failure | null {
  if (kind !== 'broken' || systemCode === null) return null;
  const alert = failureOfTlsAlert(systemCode);
  if (alert !== null)
    return { code: alert.code, message: `${target} ${alert.what} (${systemCode})` };
  const code = BROKEN_CODES[systemCode] ?? 'CONNECTION_RESET';
  const what = code === 'RESPONSE_TIMEOUT' ? 'stopped acknowledging' : 'reset the connection';
  return { code, message: `${target} ${what} before its answer was complete (${systemCode})` };
}
