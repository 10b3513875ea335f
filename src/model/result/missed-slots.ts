/** Why a slot was not run. A test compares the table of the README with this list. */
export const MISSED_REASONS = {
  previous_run_active: "The check's previous run was still active.",
  agent_busy:
    'All JOB_CONCURRENCY permits, all SCRIPT_WORKERS, or all the memory for response bodies, were in use until it was too late.',
  agent_asleep:
    'The process did not run in time: the machine was asleep or the process was suspended.',
  clock_jump: 'The wall clock was set forward over the slot.',
  agent_offline: 'The agent itself had no network (CONNECTIVITY_CHECK).',
  agent_starved:
    'The agent was short of CPU: no attempt had a certain verdict, or the run was skipped.',
  agent_stopped: 'The agent was not running, or stopped before the run was complete.',
  agent_fault: 'A fault of the agent itself ended the run.',
  spool_damaged:
    "The slot may have been run: its record on the agent's disk was damaged and is lost.",
  unassigned: 'No agent had the check: the previous agent was lost, or no agent was connected.',
} as const;
export type MissedReason = keyof typeof MISSED_REASONS;

/** Consecutive slots of one check that were not run, all for the same reason. */
export interface MissedSlots {
  readonly checkId: string;
  /** Epoch milliseconds of the first of them. */
  readonly slot: number;
  /** Epoch milliseconds of the last of them; the same as `slot` for one. */
  readonly lastSlot: number;
  readonly count: number;
  readonly reason: MissedReason;
}
