import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/access/authentication.ts';
import type { Authenticator } from '../http/access/caller.ts';
import { keyHashOf } from '../http/access/key-hashes.ts';
import { CURSOR_START, type Cursors, cursorsOf } from '../http/resources/cursor-paging.ts';
import type { EventFollower, Events, FollowedEvent } from './events.ts';
import { presentEvent } from './present-event.ts';
import { MAX_HEARTBEATS } from './stream-limits.ts';

/** A client with more unread bytes is disconnected. It can resume with its last cursor. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Heartbeats in which a client must have read a batch of earlier events, which may be longer: a minute. */
const MAX_HEARTBEATS_PER_BATCH = 4;
/** The delay after which a client should reconnect. */
const RECONNECT_MS = 2_000;

export interface EventStreamParts {
  readonly events: Events;
  readonly apiKeys: Authenticator;
  /** Aborts when the service stops: streams then end. */
  readonly stopping: AbortSignal;
}

/** Sends the events of the caller's account until the client or the service ends. */
export async function streamEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { events, apiKeys, stopping }: EventStreamParts,
): Promise<void> {
  const { accountId } = callerOf(request);
  const cursors = cursorsOf(request);
  const lastId = request.headers['last-event-id'];
  const isResumed = lastId !== undefined && lastId !== '';
  const given = isResumed ? String(lastId) : cursorIn(request);
  const place = isResumed ? 'headers.last-event-id' : undefined;
  const from = given === undefined ? await events.latest() : cursors.parse(given, place);
  if (given !== undefined && given !== CURSOR_START) await events.mustBeKept(accountId, from);

  const { raw } = reply;
  const ended = new AbortController();
  events.admit(accountId, ended.signal);
  raw.once('close', () => ended.abort());
  const end = (): void => {
    stopping.removeEventListener('abort', end);
    ended.abort();
    raw.end();
  };
  stopping.addEventListener('abort', end, { once: true });
  const endSlow = (): void => {
    if (ended.signal.aborted) return;
    events.countSlow();
    raw.destroy();
  };
  const send = (text: string): void => {
    if (ended.signal.aborted) return;
    // The limit does not apply to a batch of earlier events: it may be longer, and the client could never resume.
    if (raw.writableLength <= MAX_UNREAD_BYTES) raw.write(text);
    else endSlow();
  };
  let heartbeats = 0;
  /** Since the client began to read a batch of earlier events; null if it has read all of them. */
  let heartbeatsOfBatch: number | null = null;
  const onHeartbeat = async (): Promise<void> => {
    heartbeats += 1;
    if (heartbeats > MAX_HEARTBEATS || !(await isStillActive(request, apiKeys))) return end();
    if (heartbeatsOfBatch === null) return send(':\n\n');
    // The rest of the batch keeps the connection open.
    heartbeatsOfBatch += 1;
    if (heartbeatsOfBatch > MAX_HEARTBEATS_PER_BATCH) endSlow();
  };

  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Readonly<Record<string, string>>),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  send(`retry: ${RECONNECT_MS}\nid: ${cursors.format(from)}\n\n`);
  if (raw.destroyed || stopping.aborted) end();
  const follower: EventFollower = {
    accountId,
    position: from,
    onEvents: (found) => send(found.map((one) => formatted(one, cursors.format)).join('')),
    onHeartbeat: () => void onHeartbeat(),
    onBatch: () => {
      const read = drained(raw, ended.signal);
      if (read === null) return null;
      heartbeatsOfBatch = 0;
      return read.then(() => {
        heartbeatsOfBatch = null;
      });
    },
  };
  // The client connects again, and resumes.
  await events.follow(follower, ended.signal).catch(end);
}

/**
 * Whether the key is still active, or the user is still signed in and belongs to the account. Returns true if
 * this cannot be determined.
 */
function isStillActive(request: FastifyRequest, apiKeys: Authenticator): Promise<boolean> {
  const hash = keyHashOf(request.headers.authorization, 'vk');
  const holder = hash === null ? membershipOf(request) : apiKeys.authenticate(hash);
  return holder.then(
    (found) => found !== null,
    () => true,
  );
}

async function membershipOf(request: FastifyRequest): Promise<object | null> {
  const { accountId } = callerOf(request);
  const user = await request.server.identifyUser(request);
  return user?.memberships.find((each) => each.accountId === accountId) ?? null;
}

function cursorIn({ query }: FastifyRequest): string | undefined {
  return (query as { readonly cursor?: string }).cursor;
}

/** Formats an event for the stream. Its JSON contains no line breaks, which would end the field. */
function formatted(found: FollowedEvent, format: Cursors['format']): string {
  const id = format({ position: found.position, id: String(found.id) });
  return `id: ${id}\nevent: ${found.kind}\ndata: ${JSON.stringify(presentEvent(found))}\n\n`;
}

/** Resolves when the client has read all that was sent, or the signal aborts; null if nothing is unread. */
function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> | null {
  if (!raw.writableNeedDrain || signal.aborted) return null;
  return once(raw, 'drain', { signal }).then(
    () => {},
    () => {},
  );
}
