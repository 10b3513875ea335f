import type { ApiClient, ApiReply } from './api-client.ts';
import { bodyOf, type Refusal, refusalOf, type Step } from './plan.ts';

/** The outcome of the steps. */
export interface Outcome {
  readonly done: readonly Step[];
  /** In the order of the steps. */
  readonly refusals: readonly Refusal[];
}

/** Concurrent requests: each is a transaction of its own, and most of its time is transfer. */
const CONCURRENCY = 4;

/**
 * Runs the steps; a refused step does not stop the others. Every step is idempotent.
 *
 * @throws VedetteError like ApiClient.send; `onDone` was called for each step done before
 */
export async function carryOut(
  steps: readonly Step[],
  client: Pick<ApiClient, 'send'>,
  signal: AbortSignal,
  onDone: (step: Step) => void,
): Promise<Outcome> {
  const replies = new Array<ApiReply | null>(steps.length).fill(null);
  await inParallel(steps, CONCURRENCY, async (step, index) => {
    const reply = await send(step, client, signal);
    replies[index] = reply;
    if (reply.ok) onDone(step);
  });
  const refusals = steps.flatMap((step, index): readonly Refusal[] => {
    const reply = replies[index] ?? null;
    if (reply === null || reply.ok) return [];
    return [refusalOf({ kind: 'check', id: idOf(step) }, reply)];
  });
  return { done: steps.filter((_, index) => replies[index]?.ok === true), refusals };
}

/** Calls `work` for each, with that concurrency. The first to throw stops the rest. */
export async function inParallel<T>(
  entries: readonly T[],
  concurrency: number,
  work: (entry: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = entries.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, entry] of rest) {
      if (failed) return;
      try {
        await work(entry, index);
      } catch (thrown) {
        failed = true;
        throw thrown;
      }
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, entries.length) }, worker);
  const ends = await Promise.allSettled(workers);
  const bad = ends.find((end) => end.status === 'rejected');
  if (bad !== undefined) throw bad.reason;
}

function idOf(step: Step): string {
  return step.kind === 'delete' ? step.id : step.check.id;
}

async function send(
  step: Step,
  client: Pick<ApiClient, 'send'>,
  signal: AbortSignal,
): Promise<ApiReply> {
  if (step.kind === 'delete') {
    const reply = await client.send('DELETE', pathOf(step.checkType, step.id), { signal });
    // Another client deleted it, or the answer to an earlier attempt got lost.
    return !reply.ok && reply.status === 404 ? { ok: true, json: undefined } : reply;
  }
  const { checkType, id } = step.check;
  // A PUT also creates a check, with the id from the file.
  const body = step.kind === 'create' ? bodyOf(step.check) : step.body;
  return client.send('PUT', pathOf(checkType, id), { body, signal });
}

/** With the type, because an id alone may equal the name of a type. */
function pathOf(checkType: string, id: string): string {
  return `/v1/checks/${checkType.toLowerCase()}/${encodeURIComponent(id)}`;
}
