import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import { addShaped, JsonResponse, MAX_SINGLE_WRITE_BYTES } from './json-response.ts';

/** A list as the payload of a response, read in slices while it is sent. */
export class ListInSlices {
  readonly slices: AsyncIterable<readonly unknown[]>;

  constructor(slices: AsyncIterable<readonly unknown[]>) {
    this.slices = slices;
  }
}

/** Sends the items, shaped by the response schema of the route, which must be a list. */
export function sendSlices<Stored>(
  reply: FastifyReply,
  slices: AsyncIterable<readonly Stored[]>,
  present: (stored: Stored) => unknown,
): FastifyReply {
  return reply.send(new ListInSlices(presented(slices, present)));
}

async function* presented<Stored>(
  slices: AsyncIterable<readonly Stored[]>,
  present: (stored: Stored) => unknown,
): AsyncGenerator<readonly unknown[], void, undefined> {
  for await (const slice of slices) yield slice.map(present);
}

/**
 * Returns a text for a short list, and a stream for a long one, which reads the next slice when the client has
 * received the previous one. Throws a failure before the response has begun; afterwards the response can only
 * be aborted.
 *
 * @param items the schema of an item
 * @param onBreak called with the error when a response that had begun was aborted
 */
export async function bodyOfSlices(
  { slices }: ListInSlices,
  {
    items,
    yieldWhenDue,
    onBreak,
  }: {
    readonly items: z.ZodType;
    readonly yieldWhenDue: YieldWhenDue;
    readonly onBreak: (error: unknown) => void;
  },
): Promise<string | Readable> {
  const pieces = shapedPieces(slices, items, yieldWhenDue);
  const first: string[] = [];
  for (let bytes = 0; bytes <= MAX_SINGLE_WRITE_BYTES; ) {
    const next = await pieces.next();
    if (next.done) return first.join('');
    first.push(next.value);
    bytes += Buffer.byteLength(next.value);
  }
  return Readable.from(encoded(first, pieces, onBreak), { objectMode: false });
}

type Pieces = AsyncGenerator<string, void, undefined>;

async function* shapedPieces(
  slices: AsyncIterable<readonly unknown[]>,
  items: z.ZodType,
  yieldWhenDue: YieldWhenDue,
): Pieces {
  const answer = new JsonResponse();
  let separator = '[';
  for await (const slice of slices) {
    for (const item of slice) {
      answer.add(separator);
      separator = ',';
      await addShaped(answer, items, item, yieldWhenDue);
      yield* answer.takePieces();
      await yieldWhenDue();
    }
  }
  answer.add(separator === '[' ? '[]' : ']');
  yield* answer.takeAll();
}

async function* encoded(
  first: string[],
  rest: Pieces,
  onBreak: (error: unknown) => void,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (const piece of first.splice(0)) yield Buffer.from(piece);
    for (;;) {
      const next = await rest.next().catch((error: unknown) => {
        onBreak(error);
        throw error;
      });
      if (next.done) return;
      yield Buffer.from(next.value);
    }
  } finally {
    // Reads nothing more for a client that is gone.
    await rest.return();
  }
}
