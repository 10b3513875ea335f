import type { CpuAccount } from './cpu-accounting.ts';

/** A cause is reported if it explains this share of the starvation. */
const MIN_CAUSE_SHARE = 0.25;
/** The agent's own work is the cause from this share of one CPU on. */
const OWN_LOAD_SHARE = 0.8;

/** Why, and what to do about it. */
export const CAUSES = {
  quota: ['its CPU limit (quota) pauses it', 'raise the CPU limit of the container'],
  steal: [
    'the hypervisor gives its CPU to other machines (steal)',
    'move the virtual machine, or give it CPUs of its own',
  ],
  'own load': [
    'its own work takes all of a CPU',
    'lower JOB_CONCURRENCY or the number of checks, or add an agent to the location',
  ],
  neighbours: [
    'other processes of this machine take the CPU',
    'move them, or give the agent more CPU shares (a CPU request)',
  ],
} as const;
export type StarvationCause = keyof typeof CAUSES;

/** Names what starved the agent between two accounts. */
export function causeOf(
  before: CpuAccount,
  after: CpuAccount,
  { starvedMs, elapsedMs }: { readonly starvedMs: number; readonly elapsedMs: number },
): StarvationCause {
  if (after.throttledMs - before.throttledMs >= MIN_CAUSE_SHARE * starvedMs) return 'quota';
  if (after.stolenMs - before.stolenMs >= MIN_CAUSE_SHARE * starvedMs) return 'steal';
  return after.ownMs - before.ownMs >= OWN_LOAD_SHARE * elapsedMs ? 'own load' : 'neighbours';
}
