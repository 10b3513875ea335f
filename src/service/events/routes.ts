import { once, setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { callerOf } from '../http/access/authentication.ts';
import { type Authenticator, keyHashOf } from '../http/access/authenticator.ts';
import { CURSOR_START, type Cursors, cursorsOf, pageOf } from '../http/resources/cursor-paging.ts';
import { pageQuery } from '../http/resources/parameters.ts';
import type { EventFollower, Events, FollowedEvent, StoredEvent } from './events.ts';
import { EVENT_KINDS } from './kinds.ts';
import { MAX_HEARTBEATS } from './open-streams.ts';

/** A client that reads more slowly is disconnected. It resumes with its last cursor. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** When a client should connect again. */
const RECONNECT_MS = 2_000;

const event = z.strictObject({
  // Also kinds that only a newer replica knows, which must make no response invalid, and which no client may refuse.
  kind: z
    .union([z.enum(EVENT_KINDS), z.string()])
    .describe('What happened; a later release may have further kinds.'),
  resourceId: z.string().describe('The id of the resource.'),
  at: z.iso.datetime().describe('When it happened.'),
  data: z.record(z.string(), z.unknown()).describe('Depends on the kind.'),
});

export interface EventsRoutesParts {
  readonly events: Events;
  readonly apiKeys: Authenticator;
  /** Aborts when the service stops: streams then end. */
  readonly stopping: AbortSignal;
}

/** Changes of an account: src/service/README.md, "Events". */
export function eventsRoutes({ events, apiKeys, stopping }: EventsRoutesParts): FastifyPluginAsync {
  // Each stream adds a listener, and Node would warn of a leak from the eleventh on.
  setMaxListeners(0, stopping);
  return async (untyped) => {
    const app = untyped.withTypeProvider<ZodTypeProvider>();

    app.get(
      '/v1/events',
      {
        config: { role: 'read', streamsEvents: true },
        schema: {
          tags: ['Events'],
          operationId: 'listEvents',
          summary: 'Follow the changes of the account as server-sent events, or list them',
          description:
            'With `Accept: text/event-stream` (or any type) a stream, which `cursor` or `Last-Event-ID` resumes. Each event of it has the lines `id` (a cursor), `event` (its kind) and `data` (the JSON of an entry of the list). Otherwise a list of the last two days, newest first.',
          querystring: z.strictObject(pageQuery),
          response: { 200: z.array(event).describe('Events, newest first; or a stream of them.') },
        },
      },
      async (request, reply) => {
        if (!/text\/event-stream|\*\/\*/.test(request.headers.accept ?? '')) {
          const { accountId } = callerOf(request);
          return (await events.list(accountId, pageOf(request, reply))).map(present);
        }
        await stream(request, reply);
        return reply;
      },
    );
  };

  async function stream(request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
    const send = (text: string): void => {
      if (ended.signal.aborted) return;
      // What it did not read of earlier events: one batch may be longer, and it could never resume.
      if (raw.writableLength <= MAX_UNREAD_BYTES) {
        raw.write(text);
        return;
      }
      events.countSlow();
      raw.destroy();
    };
    let heartbeats = 0;
    const onHeartbeat = async (): Promise<void> => {
      heartbeats += 1;
      if (heartbeats > MAX_HEARTBEATS || !(await isStillActive(request))) return end();
      send(':\n\n');
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
      onBatch: () => drained(raw, ended.signal),
    };
    // The client connects again, and resumes.
    await events.follow(follower, ended.signal).catch(end);
  }

  /**
   * Whether the key was not revoked since the stream began, or the user is still signed in and belongs
   * to the account. Unknown counts as active.
   */
  function isStillActive(request: FastifyRequest): Promise<boolean> {
    const hash = keyHashOf(request.headers.authorization, 'vk');
    const holder = hash === null ? membershipOf(request) : apiKeys.authenticate(hash);
    return holder.then(
      (found) => found !== null,
      () => true,
    );
  }
}

async function membershipOf(request: FastifyRequest): Promise<object | null> {
  const { accountId } = callerOf(request);
  const user = await request.server.identifyUser(request);
  return user?.memberships.find((each) => each.accountId === accountId) ?? null;
}

function cursorIn({ query }: FastifyRequest): string | undefined {
  return (query as { readonly cursor?: string }).cursor;
}

function present({ kind, resourceId, at, data }: StoredEvent): z.output<typeof event> {
  return { kind, resourceId, at: at.toISOString(), data };
}

/** JSON has no line breaks, which would end the field. */
function formatted(found: FollowedEvent, format: Cursors['format']): string {
  const id = format({ position: found.position, id: String(found.id) });
  return `id: ${id}\nevent: ${found.kind}\ndata: ${JSON.stringify(present(found))}\n\n`;
}

/** Resolves when the client has read what was sent, or the signal aborts; null if it has already. */
function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> | null {
  if (!raw.writableNeedDrain || signal.aborted) return null;
  return once(raw, 'drain', { signal }).then(
    () => {},
    () => {},
  );
}
