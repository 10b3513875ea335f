import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';

/** Longer ones are sent piece by piece: to put one of 16 MiB together and encode it takes 40 ms. */
export const AT_ONCE_BYTES = 1_048_576;
/** Shorter texts are put together: to send each of thousands by itself takes longer. */
const PIECE_CHARS = 65_536;

/** A JSON text as the body of an answer. */
export class JsonAnswer {
  readonly #pieces: string[] = [];
  #piece = '';
  #bytes = 0;

  add(text: string): void {
    this.#piece += text;
    if (this.#piece.length >= PIECE_CHARS) this.#endPiece();
  }

  /** What of it is put together, to be sent before the rest is added: nothing of that stays here. */
  takePieces(): readonly string[] {
    this.#bytes = 0;
    return this.#pieces.splice(0);
  }

  /** The same at the end, with the last of it. */
  takeAll(): readonly string[] {
    this.#endPiece();
    return this.takePieces();
  }

  /** When all is added. Says in the headers how long it is. */
  body(reply: FastifyReply): string | Readable {
    this.#endPiece();
    if (this.#bytes <= AT_ONCE_BYTES) return this.#pieces.join('');
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

/** A list of JSON texts as the body of an answer. */
export function listAnswer(reply: FastifyReply, items: readonly string[]): string | Readable {
  const answer = new JsonAnswer();
  answer.add('[');
  for (const [index, item] of items.entries()) answer.add(index === 0 ? item : `,${item}`);
  answer.add(']');
  return answer.body(reply);
}

/** Lists of fewer items are shaped with what they are in. */
const MANY_ITEMS = 100;

/** Whether to shape the value at once may take long. */
export function isLong(schema: z.ZodType, value: unknown): boolean {
  return Array.isArray(value) ? listIn(schema) !== null : longListsOf(schema, value).size > 0;
}

/**
 * Shapes the value by its schema as the library does, but lists item by item: also long ones in an
 * object, and in the items of a list.
 *
 * @param turn called after each item
 * @throws ZodError where the value does not fit the schema
 */
export async function addShaped(
  answer: JsonAnswer,
  schema: z.ZodType,
  value: unknown,
  turn: YieldWhenDue,
): Promise<void> {
  const list = Array.isArray(value) ? listIn(schema) : null;
  const lists = longListsOf(schema, value);
  if (list !== null) await addList(answer, list, value as readonly unknown[], turn);
  else if (lists.size > 0) await addObject(answer, schema, { value: Object(value), lists }, turn);
  else answer.add(JSON.stringify(z.encode(schema, value)));
}

async function addList(
  answer: JsonAnswer,
  { items, bound }: List,
  value: readonly unknown[],
  turn: YieldWhenDue,
): Promise<void> {
  if (bound !== null) z.encode(bound, value);
  answer.add('[');
  for (const [index, each] of value.entries()) {
    if (index > 0) answer.add(',');
    await addShaped(answer, items, each, turn);
    await turn();
  }
  answer.add(']');
}

/** The object without its long lists, and these in their places. */
async function addObject(
  answer: JsonAnswer,
  schema: z.ZodType,
  { value, lists }: { readonly value: object; readonly lists: ReadonlyMap<string, List> },
  turn: YieldWhenDue,
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
    else await addList(answer, list, Reflect.get(value, key), turn);
  }
  answer.add('}');
}

/** What a schema of a list says of it. */
export interface List {
  readonly items: z.ZodType;
  /** How many there may be; null where that is not said. */
  readonly bound: z.ZodType | null;
}

/** By key, those members of an object that are lists of many items. */
function longListsOf(schema: z.ZodType, value: unknown): ReadonlyMap<string, List> {
  const long = new Map<string, List>();
  for (const [key, list] of listsIn(schema)) {
    const member: unknown = Reflect.get(Object(value), key);
    if (Array.isArray(member) && member.length > MANY_ITEMS) long.set(key, list);
  }
  return long;
}

const known = new WeakMap<z.ZodType, ReadonlyMap<string, List>>();

/** By key, the lists that an object has; none where it has rules of its own. */
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

/** null where it is no list, or one with a rule of its own. */
export function listIn(schema: unknown): List | null {
  if (schema instanceof z.ZodDefault) return listIn(schema.unwrap());
  // As `listOf` of the protocol makes it: a bound, and then the items.
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
