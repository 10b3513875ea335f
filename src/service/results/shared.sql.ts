/** The statements of this feature that other features run, and their types. */
export {
  type AssignedRule,
  listAssignedRules,
  listAssignedSlots,
} from './intake/assigned-slots.sql.ts';
export { lockSubjects } from './intake/subjects.sql.ts';
export { createResultPartitions } from './partitions.sql.ts';
export { RUN_RESULT } from './runs/sql.ts';
export { findResult, SHOWN_RESULT } from './sql.ts';
