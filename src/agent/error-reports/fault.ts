import type { ErrorsRequest } from '../../wire/v1/error-report.ts';
import { classOf, codeOf } from './allowed-names.ts';
import { confirmed, type Sources } from './confirmed-frames.ts';
import { framesIn, type ReportedFrame, slashed } from './stack-frames.ts';

export type ErrorReport = ErrorsRequest['reports'][number];

/** The recorded parts of an error, without its message. */
export interface Fault {
  readonly class: string;
  readonly code: string | null;
  readonly frames: readonly ReportedFrame[];
}

/** An error that occurred `count` times; epoch milliseconds. */
export interface CountedFault extends Fault {
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** These are enough to distinguish one error from another. */
const IDENTITY_FRAMES = 5;

/** The package, which has the same relative path from src and from dist. */
const ROOT = slashed(new URL('../../../', import.meta.url).href) ?? '/';

/**
 * Reads the outermost error of a thrown value. Does not read its causes: most are in the same
 * stack, and those of a library contain its arguments.
 */
export function readFault(thrown: unknown): Fault {
  return { class: classOf(thrown), code: codeOf(thrown), frames: framesOf(thrown) };
}

/** Two faults with the same key are the same error. */
export function faultKey({ class: name, code, frames }: Fault): string {
  return identity(name, code, frames);
}

/** The same key, for a reported or waiting fault. */
export function keyOfReport({ class: name, code, stack }: ErrorReport): string {
  return identity(name, code, stack);
}

/** @param sources of the fault's frames */
export function toErrorReport(fault: CountedFault, sources: Sources): ErrorReport {
  return {
    class: fault.class,
    code: fault.code,
    stack: confirmed(fault.frames, sources),
    count: fault.count,
    firstAt: instantOf(fault.firstAtMs),
    lastAt: instantOf(fault.lastAtMs),
  };
}

type FramePosition = Pick<ReportedFrame, 'file' | 'line' | 'column'>;

function identity(name: string, code: string | null, frames: readonly FramePosition[]): string {
  const positions = frames
    .slice(0, IDENTITY_FRAMES)
    .map(({ file, line, column }) => [file, line, column]);
  return JSON.stringify([name, code, positions]);
}

function framesOf(thrown: unknown): readonly ReportedFrame[] {
  if (typeof thrown !== 'object' || thrown === null || !('stack' in thrown)) return [];
  const { stack } = thrown;
  if (typeof stack !== 'string') return [];
  const message = 'message' in thrown ? thrown.message : '';
  return framesIn(stack, typeof message === 'string' ? message : '', ROOT);
}

/** A machine's clock may be before 1970. */
function instantOf(wallMs: number): number {
  return Math.max(0, Math.floor(wallMs));
}
