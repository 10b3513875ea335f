import {
  type FileEscalation,
  fileEscalationSchema,
} from '../../../../model/check-file/sections.ts';
import type { RawMapping } from '../../common/raw-mapping.ts';
import { keysAt } from '../../common/schema-info.ts';
import type { ProblemReporter } from '../problem-reporter.ts';
import { issueText, unknownKeyText, valueAt } from '../schema-issue.ts';
import { type KnownIds, unknownReference } from './references.ts';

const KEY = 'escalationStep';

/**
 * The escalation of the account's alerts.
 *
 * @returns null for none; undefined if the file leaves it to the service, or it has a problem
 */
export function readEscalation(
  root: RawMapping,
  { report, known }: { readonly report: ProblemReporter; readonly known: KnownIds },
): FileEscalation | null | undefined {
  const raw = root[KEY];
  if (raw === undefined || raw === null) return raw;
  const parsed = fileEscalationSchema.safeParse(raw);
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      const keys = keysAt(fileEscalationSchema, path);
      for (const name of issue.keys)
        report.key([KEY, ...path, name], '', unknownKeyText(name, keys));
    } else {
      report.value([KEY, ...path], '', issueText(issue, fileEscalationSchema, valueAt(raw, path)));
    }
  }
  if (!parsed.success) return undefined;
  const unknown = parsed.data.alertChannelIds.flatMap((id, index) => {
    if (typeof id === 'number') return [];
    const path = ['alertChannelIds', index];
    const message = unknownReference({ path, section: 'alertChannels', id }, known);
    return message === null ? [] : [{ path, message }];
  });
  for (const { path, message } of unknown) report.value([KEY, ...path], '', message);
  return unknown.length === 0 ? parsed.data : undefined;
}
