import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';

/** Longer responses are sent in pieces: joining and encoding 16 MiB takes 40 ms. */
export const MAX_SINGLE_WRITE_BYTES = 1_048_576;
/** Shorter texts are joined: sending thousands one by one takes longer. */
const PIECE_CHARS = 65_536;

/** The body of a JSON response. */
export class JsonResponse {
  readonly #pieces: string[] = [];
  #piece = '';
  #bytes = 0;

  add(text: string): void {
    this.#piece += text;
    if (this.#piece.length >= PIECE_CHARS) this.#endPiece();
  }

  /** Removes and returns the complete pieces, to be sent before the rest is added. */
  takePieces(): readonly string[] {
    this.#bytes = 0;
    return this.#pieces.splice(0);
  }

  /** Removes and returns all pieces, including the incomplete last one. Call it at the end. */
  takeAll(): readonly string[] {
    this.#endPiece();
    return this.takePieces();
  }

  /** Returns the whole body. Call it at the end. Sets the content length if it returns a stream. */
  body(reply: FastifyReply): string | Readable {
    this.#endPiece();
    if (this.#bytes <= MAX_SINGLE_WRITE_BYTES) return this.#pieces.join('');
    reply.header('content-length', this.#bytes);
    return Readable.from(encoded(this.#pieces), { objectMode: false });
  }

  #endPiece(): void {
    this.#pieces.push(this.#piece);
    this.#bytes += Buffer.byteLength(this.#piece);
    this.#piece = '';
  }
}

function* encoded(pieces: readonly string[]): Generator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** Joins JSON texts to the list that is the body of a response. */
export function listResponse(reply: FastifyReply, items: readonly string[]): string | Readable {
  const answer = new JsonResponse();
  answer.add('[');
  for (const [index, item] of items.entries()) answer.add(index === 0 ? item : `,${item}`);
  answer.add(']');
  return answer.body(reply);
}

/** Lists with fewer items are shaped together with their parent. */
const MANY_ITEMS = 100;

/** Whether shaping the value at once may take long. */
export function isStreamed(schema: z.ZodType, value: unknown): boolean {
  return Array.isArray(value) ? listIn(schema) !== null : longListsOf(schema, value).size > 0;
}

/**
 * Shapes the value by its schema as the library does, but lists item by item, including long lists in
 * an object and in the items of a list.
 *
 * @param yieldWhenDue called after each item
 * @throws ZodError where the value does not fit the schema
 */
export async function addShaped(
  answer: JsonResponse,
  schema: z.ZodType,
  value: unknown,
  yieldWhenDue: YieldWhenDue,
): Promise<void> {
  const list = Array.isArray(value) ? listIn(schema) : null;
  const lists = longListsOf(schema, value);
  if (list !== null) await addList(answer, list, value as readonly unknown[], yieldWhenDue);
  else if (lists.size > 0)
    await addObject(answer, schema, { value: Object(value), lists }, yieldWhenDue);
  else answer.add(JSON.stringify(z.encode(schema, value)));
}

async function addList(
  answer: JsonResponse,
  { items, bound }: List,
  value: readonly unknown[],
  yieldWhenDue: YieldWhenDue,
): Promise<void> {
  if (bound !== null) z.encode(bound, value);
  answer.add('[');
  for (const [index, each] of value.entries()) {
    if (index > 0) answer.add(',');
    await addShaped(answer, items, each, yieldWhenDue);
    await yieldWhenDue();
  }
  answer.add(']');
}

/** Adds the object without its long lists, and the long lists at their positions. */
async function addObject(
  answer: JsonResponse,
  schema: z.ZodType,
  { value, lists }: { readonly value: object; readonly lists: ReadonlyMap<string, List> },
  yieldWhenDue: YieldWhenDue,
): Promise<void> {
  const emptied = Object.fromEntries([...lists.keys()].map((key) => [key, []]));
  const shaped: object = Object(z.encode(schema, { ...value, ...emptied }));
  let separator = '{';
  for (const [key, member] of Object.entries(shaped)) {
    if (member === undefined) continue;
    answer.add(`${separator}${JSON.stringify(key)}:`);
    separator = ',';
    const list = lists.get(key);
    if (list === undefined) answer.add(JSON.stringify(member));
    else await addList(answer, list, Reflect.get(value, key), yieldWhenDue);
  }
  answer.add('}');
}

/** The schema of a list. */
export interface List {
  readonly items: z.ZodType;
  /** Its bounds; null if it has none. */
  readonly bound: z.ZodType | null;
}

/** The long lists of an object, by key. */
function longListsOf(schema: z.ZodType, value: unknown): ReadonlyMap<string, List> {
  const long = new Map<string, List>();
  for (const [key, list] of listsIn(schema)) {
    const member: unknown = Reflect.get(Object(value), key);
    if (Array.isArray(member) && member.length > MANY_ITEMS) long.set(key, list);
  }
  return long;
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, List>>();

/** The lists of an object by key; none if the object has refinements of its own. */
function listsIn(schema: z.ZodType): ReadonlyMap<string, List> {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const lists = new Map<string, List>();
  if (schema instanceof z.ZodObject && !hasRules(schema)) {
    for (const [key, member] of Object.entries(schema.shape)) {
      const list = listIn(member);
      if (list !== null) lists.set(key, list);
    }
  }
  known.set(schema, lists);
  return lists;
}

/** Returns the schema as a list; null if it is no list, or has a refinement of its own. */
export function listIn(schema: unknown): List | null {
  if (schema instanceof z.ZodDefault) return listIn(schema.unwrap());
  // The form that `boundedList` of the protocol creates: the bound, then the items.
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodArray) {
    const list = listIn(schema.out);
    return list && { ...list, bound: schema.in };
  }
  if (!(schema instanceof z.ZodArray) || hasRules(schema)) return null;
  return schema.element instanceof z.ZodType ? { items: schema.element, bound: null } : null;
}

function hasRules({ def }: z.ZodObject | z.ZodArray): boolean {
  return def.checks !== undefined && def.checks.length > 0;
}
