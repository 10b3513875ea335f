import type { CheckSet } from '../../agent/source/check-source.ts';
import { ENTRY_NOUNS, NO_RESOURCES, SECTIONS } from '../../model/check-file/sections.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { AppliedChanges } from '../apply/write-plan.ts';

/**
 * Names what the start of `up` deactivated or deleted because the file does not have it, such as the status
 * page of the previous file; null if there is nothing.
 */
export function removedEntriesText(
  { steps, resources }: Pick<AppliedChanges, 'steps' | 'resources'>,
  file: Pick<CheckSet, 'checks' | 'resources'>,
): string | null {
  const { sections } = file.resources ?? NO_RESOURCES;
  const listed = new Set(file.checks.map(({ id }) => id));
  const counts: readonly (readonly [count: number, noun: string, verb: string])[] = [
    [
      steps.filter((step) => step.kind === 'update' && !listed.has(step.check.id)).length,
      'check',
      'deactivated',
    ],
    ...SECTIONS.flatMap((section) => {
      const own = new Set(sections[section].map(({ id }) => id));
      const gone = resources.filter((step) => step.section === section && !own.has(step.id));
      const deleted = gone.filter(({ kind }) => kind === 'delete').length;
      return [
        [gone.length - deleted, ENTRY_NOUNS[section], 'deactivated'],
        [deleted, ENTRY_NOUNS[section], 'deleted'],
      ] as const;
    }),
  ];
  const parts = counts.flatMap(([count, noun, verb]) =>
    count === 0 ? [] : [`${countText(count, noun)} ${verb}`],
  );
  return parts.length === 0 ? null : parts.join(', ');
}

/**
 * What `up` does with a check or another entry of the service that is not in the file. An entry that came from
 * the file is deactivated, or deleted if its kind cannot be deactivated. All other entries stay.
 *
 * @param fromFile the keys of what the file defined before
 */
export function removedEntryAction(
  fromFile: ReadonlySet<string>,
  key: string,
): 'deactivate' | 'keep' {
  return fromFile.has(key) ? 'deactivate' : 'keep';
}
