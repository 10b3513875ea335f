import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import type { SlotRecord } from '../../../support/service/deployment.ts';
import { PERIOD_SECONDS, type StormCheck } from './checks.ts';
import type { Group } from './fixture.ts';

/** An attempt as the service received it. */
export interface StormResult {
  readonly checkId: string;
  readonly slotMs: number;
  /** From the slot to the start of the attempt. */
  readonly lateMs: number;
  readonly isFinal: boolean;
  readonly failed: boolean;
  /** The number of earlier attempts. */
  readonly retriesMade: number;
  readonly code: string | null;
  /** Its only failure is its duration, like a hanging run when the storm ends. */
  readonly isSlow: boolean;
  /** Whether its log reports that evidence was skipped. */
  readonly wasBusy: boolean;
  readonly traced: boolean;
  readonly captured: boolean;
}

/** Everything that the service has accepted, from service.mjs. */
export interface StormRecords {
  readonly results: readonly StormResult[];
  readonly missed: readonly MissedSlots[];
  /** One for each artifact. */
  readonly artifactBytes: readonly number[];
  /** Reports of the agent's own errors. */
  readonly reports: number;
}

/** One for each FINAL and for each slot of the missed records. */
export function slotRecordsOf({ results, missed }: StormRecords): readonly SlotRecord[] {
  const finals = results.filter(({ isFinal }) => isFinal);
  return [
    ...finals.map(({ checkId, slotMs }) => ({ checkId, slotMs, kind: 'FINAL' as const })),
    ...missed.flatMap(({ checkId, slot, count }) =>
      Array.from({ length: count }, (_, index) => ({
        checkId,
        slotMs: slot + index * PERIOD_SECONDS * 1000,
        kind: 'missed' as const,
      })),
    ),
  ];
}

export interface Span {
  /** Epoch milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The delays of one group's starts in a period: only first attempts have a slot. */
export function latenessOf(
  { results }: StormRecords,
  checks: readonly StormCheck[],
  group: Group,
  { fromMs, toMs }: Span,
): readonly number[] {
  const ids = new Set(checks.filter((check) => check.group === group).map(({ id }) => id));
  return results
    .filter(({ checkId, retriesMade }) => ids.has(checkId) && retriesMade === 0)
    .filter(({ slotMs }) => slotMs > fromMs && slotMs <= toMs)
    .map(({ lateMs }) => lateMs);
}
