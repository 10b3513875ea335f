import type { AssignmentMessage } from '../../wire/v1/assignment.ts';
import { MAX_ASSIGNMENTS, MAX_REMOVALS } from '../../wire/v1/limits.ts';
import type { CheckVariables } from '../checks/check-variables.ts';
import type { Sql } from '../database/port.ts';
import { type PageMarker, pageTextOf } from './page-marker.ts';
import { type AgentOfLocation, listLost, readShare, type SharedCheck } from './share.sql.ts';

/** The part of an answer that is about checks. */
export interface SentChecks {
  readonly revision: number;
  readonly full: boolean;
  readonly upsert: readonly AssignmentMessage[];
  readonly remove: readonly string[];
  readonly nextPage: string | null;
}

/** Of one page; so that none of them keeps the event loop for long. */
const PAGE = { maxRows: 2_000, maxBytes: 4 * 1024 * 1024 } as const;
/**
 * Of a delta; a quarter of what an answer may have. One-offs have as much, removals, certificates,
 * variables and pauses the rest.
 */
const DELTA = { maxRows: MAX_ASSIGNMENTS, maxBytes: 4 * 1024 * 1024 } as const;

/** Where checks are read from, and what opens their secret variables. */
export interface AssignmentCache {
  readonly sql: Sql;
  readonly checkVariables: Pick<CheckVariables, 'open'>;
}

/** The first page of the whole set. */
export function firstPage(
  shelf: AssignmentCache,
  agent: AgentOfLocation,
  { revision, epoch }: Pick<PageMarker, 'revision' | 'epoch'>,
): Promise<SentChecks> {
  return readPage(shelf, agent, { revision, epoch, after: '' }, revision);
}

/**
 * A further page. The pages are read one by one while the set may change; what changes has a later
 * revision than theirs, and so comes with the next delta. Where the agent had lost its lease
 * meanwhile, nobody noted what it lost: revision 0 then makes it ask for all once more.
 *
 * @param epoch of the lease now
 */
export function furtherPage(
  shelf: AssignmentCache,
  agent: AgentOfLocation,
  marker: PageMarker,
  epoch: number,
): Promise<SentChecks> {
  return readPage(shelf, agent, marker, marker.epoch === epoch ? marker.revision : 0);
}

async function readPage(
  shelf: AssignmentCache,
  agent: AgentOfLocation,
  marker: PageMarker,
  revision: number,
): Promise<SentChecks> {
  const { after } = marker;
  const share = await readShare(shelf.sql, { ...agent, range: { after }, ...PAGE });
  const nextPage =
    share.lastOfPart === null ? null : pageTextOf({ ...marker, after: share.lastOfPart.checkId });
  return {
    revision,
    full: true,
    upsert: share.checks.map((each) => opened(shelf, each)),
    remove: [],
    nextPage,
  };
}

/**
 * What changed for an agent between two revisions, or as much of it, up to some revision between
 * them, as fits into one answer: its next poll brings what is left.
 *
 * @param to read before: what is told may be newer, and is then told again
 * @returns null where not even the changes of one revision fit
 */
export async function deltaOf(
  shelf: AssignmentCache,
  agent: AgentOfLocation,
  { since, to }: { readonly since: number; readonly to: number },
): Promise<SentChecks | null> {
  const limit = MAX_REMOVALS + 1;
  const lost = await listLost(shelf.sql, { ...agent, sinceRevision: since, limit });
  const share = await readShare(shelf.sql, { ...agent, range: { sinceRevision: since }, ...DELTA });
  const cutLost = lost.length === limit ? lost.at(-1) : null;
  // Of the revision in which either list was cut, some may be missing.
  const whole = [cutLost, share.lastOfPart].map((cut) => (cut ? cut.revision - 1 : to));
  const revision = Math.min(to, ...whole);
  if (revision <= since && revision < to) return null;
  const isIn = (change: { readonly revision: number }): boolean =>
    revision === to || change.revision <= revision;
  const upsert = share.checks.filter(isIn).map((each) => opened(shelf, each));
  // Lost and won back since; or while we looked, and then the next delta tells how it ended.
  const given = new Set(upsert.map(({ checkId }) => checkId));
  const remove = lost
    .filter(isIn)
    .flatMap(({ checkId }) => (given.has(checkId) ? [] : [checkId]))
    .slice(0, MAX_REMOVALS);
  return { revision, full: false, upsert, remove, nextPage: null };
}

function opened(
  { checkVariables }: AssignmentCache,
  { accountId, assignment, sealedVariables }: SharedCheck,
): AssignmentMessage {
  const key = { accountId, id: assignment.checkId };
  return { ...assignment, check: checkVariables.open(key, assignment.check, sealedVariables) };
}
