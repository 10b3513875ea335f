import { terminalSafe } from '../print/terminal-safe.ts';
import type { FieldChange } from './field-changes.ts';
import type { ApplyPlan } from './plan.ts';

const MAX_NAMED = 20;

/**
 * Returns a warning about checks and heartbeats that a file with a name begins to manage. Perhaps it made them before
 * it had a name; perhaps another file or a user made them, and their settings are overwritten.
 *
 * @param fileName null for a file without a name: the service does not know which of these made a check
 * @returns null if there are none
 */
export function takeoverWarning(
  file: string,
  fileName: string | null,
  { steps, resources }: Pick<ApplyPlan, 'steps' | 'resources'>,
): string | null {
  if (fileName === null) return null;
  const heartbeats = resources.steps.filter(({ section }) => section === 'heartbeats');
  const ids = [
    ...steps.flatMap((step) => (step.kind === 'update' && isTakeover(step) ? step.check.id : [])),
    ...heartbeats.flatMap((step) => (step.kind === 'update' && isTakeover(step) ? step.id : [])),
  ];
  if (ids.length === 0) return null;
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  const those = `${ids.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `${terminalSafe(file)} takes over checks or heartbeats that no file with a name manages: ${those}; choose other ids in the file for those that it did not make`;
}

function isTakeover({ changes }: { readonly changes: readonly FieldChange[] }): boolean {
  return changes.some(({ path }) => path === 'logicalId');
}
