import type { Frequency } from '../enums.ts';
import { stableNumber } from '../ids.ts';
import { MINUTE_MS } from '../time-units.ts';
import { offsetMsOf, SUB_MINUTE_OFFSETS } from './frequency.ts';

/** The instants at which a check is due: `k · periodMs + phaseMs` for whole k since the epoch. */
export interface SlotRule {
  readonly periodMs: number;
  /** In [0, periodMs). */
  readonly phaseMs: number;
  /** Excludes a RotationRule: used as a SlotRule it would run every slot. */
  readonly stride?: never;
}

/**
 * The slot rule of a check (src/model/README.md, "When checks run"). Any agent computes the same
 * one.
 *
 * @param frequency minutes; 0 means every `frequencyOffset` seconds
 * @param frequencyOffset null spreads the phase over the period by a hash of the id
 */
export function slotRuleOf(
  checkId: string,
  frequency: Frequency,
  frequencyOffset: number | null,
): SlotRule {
  if (frequency === 0) {
    const periodMs = (frequencyOffset ?? SUB_MINUTE_OFFSETS[0]) * 1000;
    return { periodMs, phaseMs: stableNumber(checkId, periodMs) };
  }
  const periodMs = frequency * MINUTE_MS;
  if (frequencyOffset === null) return { periodMs, phaseMs: stableNumber(checkId, periodMs) };
  return { periodMs, phaseMs: offsetMsOf(frequency, frequencyOffset) };
}

/** The first slot strictly after the instant. Both are epoch milliseconds. */
export function nextSlotAfter(rule: SlotRule, instantMs: number): number {
  const k = Math.floor((instantMs - rule.phaseMs) / rule.periodMs) + 1;
  return k * rule.periodMs + rule.phaseMs;
}

/** The last slot at or before the instant. Both are epoch milliseconds. */
export function lastSlotAt(rule: SlotRule, instantMs: number): number {
  return nextSlotAfter(rule, instantMs) - rule.periodMs;
}
