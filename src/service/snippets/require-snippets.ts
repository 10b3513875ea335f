import { MAX_SCRIPT_CHARS, type ScriptFields } from '../../model/check/scripts.ts';
import type { Sql } from '../database/store.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { lockSnippetsShared } from './sql.ts';

const FIELDS = ['setupSnippetId', 'teardownSnippetId'] as const;

/**
 * Locks the snippets that a check or a group runs in share mode until the transaction ends, so that none is
 * deleted in between.
 *
 * @param before the stored fields; null for a check or group that is created
 * @returns problems in `fields`
 */
export async function requireSnippets(
  tx: Sql,
  accountId: string,
  fields: Partial<ScriptFields>,
  before: Partial<ScriptFields> | null,
): Promise<readonly RequestProblem[]> {
  const ids = FIELDS.flatMap((name) => fields[name] ?? []);
  if (ids.length === 0) return [];
  const locked = await lockSnippetsShared(tx, { accountId, ids });
  return FIELDS.flatMap((name) => {
    const id = fields[name] ?? null;
    if (id === null) return [];
    const chars = locked.get(id);
    if (chars === undefined) {
      return [bodyProblem([name], `must be the id of a snippet: there is no ${id}`)];
    }
    // A stored snippet that has grown since must not prevent other changes.
    if (chars <= MAX_SCRIPT_CHARS || before?.[name] === id) return [];
    const message = `must be a snippet of at most ${MAX_SCRIPT_CHARS} characters: ${id} has ${chars}`;
    return [bodyProblem([name], message)];
  });
}
