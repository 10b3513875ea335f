import { z } from 'zod';
import type { Check, CheckOf } from '../../../model/check/check.ts';
import {
  type NamedScript,
  type ScriptFields,
  scriptFields,
  scriptsOf,
} from '../../../model/check/scripts.ts';
import type { FileResources } from '../../../model/check-file/sections.ts';

const groupSchema = z.object(scriptFields);

/**
 * The checks of a file as an agent without a service runs them: with the scripts of their groups in
 * the file, as a service would send them (src/model/README.md, "Setup and teardown scripts"). A
 * service gets checks and groups separately.
 */
export function withGroupScripts(
  checks: readonly Check[],
  { sections, references }: FileResources,
): readonly Check[] {
  const groups = new Map(
    sections.groups
      .map(({ id, fields }) => [id, groupSchema.parse(fields)] as const)
      .filter(([, fields]) => Object.values(fields).some((value) => value !== null)),
  );
  if (groups.size === 0) return checks;
  return checks.map((check) => {
    const groupId = references.get(check.id)?.groupId;
    const group = groupId === undefined ? undefined : groups.get(groupId);
    return group === undefined || check.checkType !== 'API' ? check : withScripts(check, group);
  });
}

function withScripts(check: CheckOf<'API'>, group: ScriptFields): Check {
  const setupSnippetId = check.setupSnippetId ?? group.setupSnippetId;
  const teardownSnippetId = check.teardownSnippetId ?? group.teardownSnippetId;
  // Only a service has snippets: without `scripts` each run fails, and says so.
  if (setupSnippetId !== null || teardownSnippetId !== null) {
    return { ...check, setupSnippetId, teardownSnippetId };
  }
  const own = scriptsOf(check);
  const { setup, teardown } = scriptsOf(group);
  return {
    ...check,
    scripts: {
      setup: [...setup.map(ofGroup), ...own.setup],
      teardown: [...own.teardown, ...teardown.map(ofGroup)],
    },
  };
}

function ofGroup({ source }: NamedScript): NamedScript {
  return { owner: 'group', source };
}
