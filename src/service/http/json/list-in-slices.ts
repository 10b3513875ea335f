import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import { AT_ONCE_BYTES, addShaped, JsonAnswer } from './json-answer.ts';

/** A list as the payload of an answer, read a few items at a time as they are sent. */
export class ListInSlices {
  readonly slices: AsyncIterable<readonly unknown[]>;

  constructor(slices: AsyncIterable<readonly unknown[]>) {
    this.slices = slices;
  }
}

/** Sends the items by the schema of the route, which is one of a list. */
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
 * A short list as a text; of a long one a stream, which reads the next slice when the client has taken
 * what came before it. What fails in the beginning is thrown. After it the answer has begun, and can
 * only be broken off.
 *
 * @param items the schema of an item
 * @param onBreak told why an answer that had begun was broken off
 */
export async function bodyOfSlices(
  { slices }: ListInSlices,
  {
    items,
    turn,
    onBreak,
  }: {
    readonly items: z.ZodType;
    readonly turn: YieldWhenDue;
    readonly onBreak: (error: unknown) => void;
  },
): Promise<string | Readable> {
  const pieces = shapedPieces(slices, items, turn);
  const first: string[] = [];
  for (let bytes = 0; bytes <= AT_ONCE_BYTES; ) {
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
  turn: YieldWhenDue,
): Pieces {
  const answer = new JsonAnswer();
  let separator = '[';
  for await (const slice of slices) {
    for (const item of slice) {
      answer.add(separator);
      separator = ',';
      await addShaped(answer, items, item, turn);
      yield* answer.takePieces();
      await turn();
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
    // Nothing more is read for a client that is gone.
    await rest.return();
  }
}
