import { z } from 'zod';
import type { AssignmentMessage } from '../../wire/v1/assignment.ts';
import { id } from '../../wire/v1/fields.ts';
import { MAX_ASSIGNMENTS, MAX_REMOVALS } from '../../wire/v1/limits.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { Sql } from '../database/store.ts';
import { listLost, readShare, type SharedCheck } from './agent-share.sql.ts';
import type { AgentOfLocation } from './sql.ts';

/** The checks in an answer. */
export interface SentChecks {
  readonly revision: number;
  readonly full: boolean;
  readonly upsert: readonly AssignmentMessage[];
  readonly remove: readonly string[];
  readonly nextPage: string | null;
}

/** Bounds the time that one page blocks the event loop. */
const PAGE = { maxRows: 2_000, maxBytes: 4 * 1024 * 1024 } as const;
/**
 * A quarter of the largest answer. One-offs may take another quarter; removals, certificates, variables
 * and pauses take the rest.
 */
const DELTA = { maxRows: MAX_ASSIGNMENTS, maxBytes: 4 * 1024 * 1024 } as const;

interface CheckSource {
  readonly sql: Sql;
  readonly checkVariables: Pick<CheckVariables, 'open'>;
}

/** Where the next page of a whole set begins. */
const markerSchema = z.strictObject({
  /** The revision of the location when the first page was read. */
  revision: z.int().min(0),
  /** The epoch of the agent's lease at that time. */
  epoch: z.int().min(0),
  /** The id of the last check sent. */
  after: id,
});
export type PageMarker = z.output<typeof markerSchema>;

/** Parses a marker; null for an invalid text. */
export function pageMarkerOf(text: string): PageMarker | null {
  try {
    return markerSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return null;
  }
}

/** Serializes a marker, which is opaque to agents. */
function pageTextOf(marker: PageMarker): string {
  return Buffer.from(JSON.stringify(marker)).toString('base64url');
}

/** The first page of the whole set. */
export function firstPage(
  source: CheckSource,
  agent: AgentOfLocation,
  { revision, epoch }: Pick<PageMarker, 'revision' | 'epoch'>,
): Promise<SentChecks> {
  return readPage(source, agent, { revision, epoch, after: '' }, revision);
}

/**
 * Reads a further page. The set may change between two pages: a change has a later revision than the pages,
 * and is sent with the next delta. If the agent has lost its lease since the first page, there are no
 * tombstones of the checks that it lost: revision 0 then makes it request the whole set again.
 *
 * @param epoch of the lease now
 */
export function furtherPage(
  source: CheckSource,
  agent: AgentOfLocation,
  marker: PageMarker,
  epoch: number,
): Promise<SentChecks> {
  return readPage(source, agent, marker, marker.epoch === epoch ? marker.revision : 0);
}

async function readPage(
  source: CheckSource,
  agent: AgentOfLocation,
  marker: PageMarker,
  revision: number,
): Promise<SentChecks> {
  const { after } = marker;
  const share = await readShare(source.sql, { ...agent, range: { after }, ...PAGE });
  const nextPage =
    share.lastOfPart === null ? null : pageTextOf({ ...marker, after: share.lastOfPart.checkId });
  return {
    revision,
    full: true,
    upsert: share.checks.map((each) => opened(source, each)),
    remove: [],
    nextPage,
  };
}

/**
 * Reads what changed for an agent between two revisions. If that does not fit into one answer, returns the
 * changes up to a revision between them: the next poll gets the rest.
 *
 * @param to must be read before the checks: checks that are newer are sent again with the next delta
 * @returns null if not even the changes of one revision fit
 */
export async function assignmentDelta(
  source: CheckSource,
  agent: AgentOfLocation,
  { since, to }: { readonly since: number; readonly to: number },
): Promise<SentChecks | null> {
  const limit = MAX_REMOVALS + 1;
  const lost = await listLost(source.sql, { ...agent, sinceRevision: since, limit });
  const share = await readShare(source.sql, {
    ...agent,
    range: { sinceRevision: since },
    ...DELTA,
  });
  const cutLost = lost.length === limit ? lost.at(-1) : null;
  // A list may have been cut within a revision: only the revisions before that one are complete.
  const whole = [cutLost, share.lastOfPart].map((cut) => (cut ? cut.revision - 1 : to));
  const revision = Math.min(to, ...whole);
  if (revision <= since && revision < to) return null;
  const isIn = (change: { readonly revision: number }): boolean =>
    revision === to || change.revision <= revision;
  const upsert = share.checks.filter(isIn).map((each) => opened(source, each));
  // A check in both lists was assigned again since, or between the two reads: then the next delta
  // sends its final state.
  const assigned = new Set(upsert.map(({ checkId }) => checkId));
  const remove = lost
    .filter(isIn)
    .flatMap(({ checkId }) => (assigned.has(checkId) ? [] : [checkId]))
    .slice(0, MAX_REMOVALS);
  return { revision, full: false, upsert, remove, nextPage: null };
}

function opened(
  { checkVariables }: CheckSource,
  { accountId, assignment, sealedVariables }: SharedCheck,
): AssignmentMessage {
  const key = { accountId, id: assignment.checkId };
  return { ...assignment, check: checkVariables.open(key, assignment.check, sealedVariables) };
}
