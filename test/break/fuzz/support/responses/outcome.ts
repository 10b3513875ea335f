import { expect } from 'vitest';
import type { ProbeContext } from '../../../../../src/agent/probes/probe.ts';
import type {
  DetailExtras,
  DetailFields,
} from '../../../../../src/agent/run/check-types/check-type.ts';
import {
  ERROR_CODES,
  type ErrorCode,
  type Failure,
} from '../../../../../src/model/result/error-codes.ts';

/**
 * Invariants of every probe: a failure is one that a target can cause, reported in one line, and
 * the outcome becomes the details of a result.
 */
export function expectOutcome(
  failure: Failure | null,
  detail: (extras: DetailExtras) => DetailFields,
  context: ProbeContext,
  possible: readonly ErrorCode[],
): DetailFields {
  if (failure !== null) {
    expect(possible, failure.message).toContain(failure.code);
    expect(Object.keys(ERROR_CODES)).toContain(failure.code);
    expect(failure.message).toMatch(/^[^\r\n\0]+$/);
  }
  return detail({
    assertions: [],
    jobLog: context.log.entries(),
    jobAssets: [],
    evidence: { pcapDataUrl: null, traceroute: null },
    timing: { uncertaintyMs: 0, clock: 'event-loop' },
  });
}
