import type { Clock } from '../../runtime/clock.ts';
import { storableText } from '../../runtime/text/storable-text.ts';
import { readingIn, type WriteRecorder } from '../database/recorded-store.ts';
import type { Transaction } from '../database/store.ts';
import { changesBetween } from './changes.ts';
import type { AuditAction } from './kinds.ts';
import { type Actor, insertEntry, lockResource } from './sql.ts';

/** A request that writes. */
export interface RecordedRequest {
  readonly accountId: string;
  readonly actor: Actor;
  readonly kind: string;
  /** null: derived from whether the resource is new, changed or gone. */
  readonly action: AuditAction | null;
  /** The resource of the path; null if the request makes one. */
  readonly id: string | number | null;
  /** The parameter of the path that a new resource will have. */
  readonly idName: string;
  /** Reads the resource as the role `read` sees it; null if there is none. */
  show(id: string | number): Promise<object | null>;
}

const MAX_NAME_CHARS = 300;
/** Fields that can serve as the name of a resource, in order of preference. */
const NAMES = ['name', 'email', 'host', 'key', 'slug', 'prefix'];

/** Writes an entry for each transaction of a request; most requests have one transaction. */
export class RequestRecorder implements WriteRecorder {
  readonly #request: RecordedRequest;
  readonly #clock: Clock;
  #isOver = false;

  constructor(request: RecordedRequest, clock: Clock) {
    this.#request = request;
    this.#clock = clock;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Stops recording: background work that the request started does not belong to it. */
  end(): void {
    this.#isOver = true;
  }

  of(id: string | null): RequestRecorder {
    return new RequestRecorder({ ...this.#request, id }, this.#clock);
  }

  async record<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
    if (this.isOver) return await work();
    const { accountId, actor, kind, action, id, idName, show } = this.#request;
    const shown = async (which: string | number | null) =>
      which === null ? null : await readingIn(tx, () => show(which));
    if (id !== null) await lockResource(tx, [accountId, kind, String(id)]);
    const before = await shown(id);
    const result = await work();
    const resourceId = id ?? createdId(result, idName);
    const after = await shown(resourceId);
    await insertEntry(tx, {
      accountId,
      atMs: this.#clock.wallMs(),
      actor,
      action: action ?? actionOf(before, after),
      kind,
      resourceId: resourceId === null ? null : String(resourceId),
      resourceName: nameOf(after) ?? nameOf(before),
      ...changesBetween(before, after),
    });
    return result;
  }
}

function actionOf(before: object | null, after: object | null): AuditAction {
  if (before === null) return 'create';
  return after === null ? 'delete' : 'update';
}

/** The id of the resource that a transaction returns, alone or beside a secret; null if there is none. */
function createdId(result: unknown, idName: string): string | number | null {
  const parts = [result, ...Object.values(Object(result) as object)].map(
    (part) => Object(part) as Readonly<Record<string, unknown>>,
  );
  for (const part of parts) {
    const id = part[idName] ?? part.id;
    if (typeof id === 'string' || typeof id === 'number') return id;
  }
  return null;
}

function nameOf(shown: object | null): string | null {
  const fields = (shown ?? {}) as Readonly<Record<string, unknown>>;
  const name = NAMES.map((each) => fields[each]).find((value) => typeof value === 'string');
  return typeof name === 'string' ? storableText(name.slice(0, MAX_NAME_CHARS)) : null;
}
