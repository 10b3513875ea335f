/** The statements of this feature that other features run, and their types. */
export { listAssignedSlots } from './intake/assigned-slots.sql.ts';
export { lockSubjects } from './intake/subjects.sql.ts';
export { createResultPartitions } from './partitions.sql.ts';
export { SHOWN_RESULT } from './shown-result.sql.ts';
export { findResult } from './sql.ts';
