import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../runtime/clock.ts';
import { LIST_START, type ListFacts, type ListPosition } from '../../database/lists/list-walk.ts';
import { invalid } from '../../errors.ts';
import { callerOf } from '../access/authentication.ts';
import { baseUrlOf } from '../base-url.ts';
import type { Page } from './paging.ts';
import { sortedJson } from './sorted-json.ts';

declare module 'fastify' {
  interface FastifyInstance {
    lists: {
      readonly clock: Clock;
      /** The URL of the service from outside, without a trailing slash; null for that of each request. */
      readonly publicUrl: string | null;
    };
  }
}

/** The cursor that begins a list. */
export const CURSOR_START = 'start';
const VERSION = 1;
/** Longer than any id of a list. */
const MAX_ID_CHARS = 400;
/** Clients refuse long headers: Node above 16 KiB for all of them. */
const MAX_LINK_CHARS = 6_000;

/** What a cursor contains, as base64url of a JSON array. */
interface Cursor extends ListPosition {
  /** `listHash` of the requests for this list. */
  readonly hash: string;
  /** When the client began to follow cursors, in epoch milliseconds: keeps default windows constant. */
  readonly begunMs: number;
}

/** The part of a list that a request asks for. */
export interface CursorPage extends Page {
  /** When the client began to follow cursors, in epoch milliseconds; null for pages. */
  readonly begunMs: number | null;
}

/** The query of a list after validation. */
interface ListQuery {
  readonly limit: number;
  readonly page: number;
  readonly cursor?: string | undefined;
}

type ListRequest = Pick<
  FastifyRequest,
  'query' | 'url' | 'caller' | 'protocol' | 'host' | 'server'
>;

/**
 * Parses the page or cursor of a request. After the list was read, adds the headers of the response:
 * src/service/README.md, "Responses".
 *
 * @throws ServiceError 400 for a cursor that does not belong to this list
 */
export function pageOf(request: ListRequest, reply: FastifyReply): CursorPage {
  const { limit, page, cursor } = request.query as ListQuery;
  const { pathname, searchParams } = new URL(request.url, 'http://service');
  const { lists } = request.server;
  const begun =
    cursor === undefined ? null : parseCursor(cursor, listHash(request), lists.clock.wallMs());
  if (begun !== null && page !== 1) {
    throw invalid([
      {
        path: 'query.page',
        message: 'must be omitted: a cursor already says where the list continues',
      },
    ]);
  }

  const base = `${baseUrlOf(request, lists.publicUrl)}${pathname}`;
  const linkTo = (rel: string, changed: Readonly<Record<string, string>>): string => {
    const params = new URLSearchParams(searchParams);
    for (const [name, value] of Object.entries(changed)) params.set(name, value);
    return `<${base}?${params}>; rel="${rel}"`;
  };

  const pageLinks = ({ entries, total, isAtLeast }: ListFacts): readonly string[] => {
    const hasNext = entries === limit && (isAtLeast || page * limit < total);
    return [
      ...(hasNext ? [linkTo('next', { page: String(page + 1) })] : []),
      ...(page > 1 ? [linkTo('prev', { page: String(page - 1) })] : []),
      linkTo('first', { page: '1' }),
    ];
  };

  const cursorLinks = ({ entries, last }: ListFacts, from: Cursor): readonly string[] => {
    const next = formatCursor({ ...from, ...last });
    reply.header('x-next-cursor', next);
    return [
      ...(entries === limit ? [linkTo('next', { cursor: next })] : []),
      linkTo('first', { cursor: CURSOR_START }),
    ];
  };

  return {
    limit,
    page,
    begunMs: begun?.begunMs ?? null,
    walk: {
      after: begun,
      found: (facts) => {
        reply.header('x-total-count', facts.total);
        if (facts.isAtLeast) reply.header('x-total-count-at-least', 'true');
        const links = begun === null ? pageLinks(facts) : cursorLinks(facts, begun);
        const header = shortened(links);
        if (header !== '') reply.header('link', header);
      },
    },
  };
}

/** The cursors of a list that is sent as a stream. */
export interface Cursors {
  /**
   * @param path the position of the cursor in the request, for the error. Default: in the query
   * @throws ServiceError 400
   */
  parse(cursor: string, path?: string): ListPosition;
  format(position: ListPosition): string;
}

/** Cursors for a stream; they are interchangeable with those of the list. */
export function cursorsOf(request: ListRequest): Cursors {
  const hash = listHash(request);
  const begunMs = request.server.lists.clock.wallMs();
  return {
    parse: (cursor, path) => parseCursor(cursor, hash, begunMs, path),
    format: (position) => formatCursor({ hash, begunMs, ...position }),
  };
}

/** Joins as many links as fit into the header. */
function shortened(links: readonly string[]): string {
  let header = '';
  for (const link of links) {
    const longer = header === '' ? link : `${header}, ${link}`;
    if (longer.length > MAX_LINK_CHARS) break;
    header = longer;
  }
  return header;
}

/** Identifies a list by its path, its filters and the account. */
function listHash(request: ListRequest): string {
  const { limit: _, page: __, cursor: ___, ...filters } = request.query as ListQuery;
  const { pathname } = new URL(request.url, 'http://service');
  const text = sortedJson([callerOf(request).accountId, pathname, filters]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The position of the cursor in requests, for errors. */
const CURSOR_PATH = 'query.cursor';

function formatCursor({ hash, begunMs, position, id }: Cursor): string {
  return Buffer.from(JSON.stringify([VERSION, hash, begunMs, position, id])).toString('base64url');
}

function parseCursor(text: string, hash: string, nowMs: number, path = CURSOR_PATH): Cursor {
  if (text === CURSOR_START) return { hash, begunMs: nowMs, ...LIST_START };
  const cursor = readCursor(text);
  if (cursor === null) {
    throw refused(
      path,
      `must be "${CURSOR_START}", or a cursor as a response contains it, unchanged`,
    );
  }
  if (cursor.hash !== hash) {
    throw refused(
      path,
      `is of another list or of other filters: repeat the path and the filters that it was returned for, or begin anew with ${CURSOR_START}`,
    );
  }
  return cursor;
}

/** Parses a cursor; null if it is malformed. Clients can forge cursors, so every part is validated. */
function readCursor(text: string): Cursor | null {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 5) return null;
  const [version, hash, begunMs, position, id] = parts as unknown[];
  const isWhole =
    version === VERSION &&
    typeof hash === 'string' &&
    Number.isSafeInteger(begunMs) &&
    typeof position === 'string' &&
    /^(?:-1|\d{1,18})$/.test(position) &&
    typeof id === 'string' &&
    id.length <= MAX_ID_CHARS &&
    /^[\x20-\x7e]*$/.test(id);
  return isWhole ? { hash, begunMs: begunMs as number, position, id } : null;
}

function refused(path: string, message: string) {
  return invalid([{ path, message }]);
}
