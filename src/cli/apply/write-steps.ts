import { z } from 'zod';
import type { ApiClient, ApiRefusal, ApiResponse } from '../service-api/api-client.ts';
import { type ApplyRefusal, type ApplyStep, checkBody } from './check-plan.ts';
import type { VariableStep } from './variable-plan.ts';

type Client = Pick<ApiClient, 'send'>;

/** Number of concurrent requests. Each is a separate transaction, and takes most of its time for transfer. */
const CONCURRENCY = 4;
const VARIABLES_PATH = '/v1/variables';
/** The values of templates decide what every check sends, and where. */
const VARIABLES_ROLE = { role: 'admin', roleReason: 'which variables need' } as const;

type Body = Readonly<Record<string, unknown>>;

export interface CheckWrites {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Replaces ids of the file by ids of the service in the body, or returns why this is impossible. */
  readonly resolve: (body: Body) => Resolved;
  /** Called with each step and the warnings with which the service accepted it. */
  readonly onDone: (step: ApplyStep, warnings: readonly string[]) => void;
}

export type Resolved =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly refusal: ApiResponse };

/**
 * Runs the steps for checks. Continues after a refused step. Every step is idempotent.
 *
 * @returns the refusals, in the order of the steps
 * @throws VedetteError like ApiClient.send; `onDone` was called for each step done before
 */
export function writeChecks(
  steps: readonly ApplyStep[],
  { client, signal, resolve, onDone }: CheckWrites,
): Promise<readonly ApplyRefusal[]> {
  const idOf = (step: ApplyStep): string => (step.kind === 'delete' ? step.id : step.check.id);
  const write = (step: ApplyStep) => writeCheck(step, { client, signal, resolve });
  const done = (step: ApplyStep, json: unknown): void => onDone(step, warningsIn(json));
  return writeAll(steps, { kind: 'check', idOf, write, onDone: done });
}

/** The same for variables. */
export function writeVariables(
  steps: readonly VariableStep[],
  client: Client,
  signal: AbortSignal,
  onDone: (step: VariableStep) => void,
): Promise<readonly ApplyRefusal[]> {
  const idOf = ({ variable }: VariableStep): string => variable.key;
  const write = (step: VariableStep) => writeVariable(step, client, signal);
  return writeAll(steps, { kind: 'variable', idOf, write, onDone });
}

/** Runs the steps of one kind, a few at a time. */
export async function writeAll<S>(
  steps: readonly S[],
  {
    kind,
    idOf,
    write,
    onDone,
  }: {
    readonly kind: ApplyRefusal['kind'];
    readonly idOf: (step: S) => string;
    readonly write: (step: S) => Promise<ApiResponse>;
    readonly onDone: (step: S, json: unknown) => void;
  },
): Promise<readonly ApplyRefusal[]> {
  const refused = new Map<S, ApiRefusal>();
  await inParallel(steps, CONCURRENCY, async (step) => {
    const reply = await write(step);
    if (reply.ok) onDone(step, reply.json);
    else refused.set(step, reply);
  });
  return steps.flatMap((step) => {
    const refusal = refused.get(step);
    if (refusal === undefined) return [];
    const { status, reasons } = refusal;
    return [
      {
        kind,
        id: idOf(step),
        reasons: reasons.map((reason) => `is refused (${status}): ${reason}`),
      },
    ];
  });
}

/** Calls `work` for each, with that concurrency. The first to throw stops the rest. */
export async function inParallel<T>(
  entries: readonly T[],
  concurrency: number,
  work: (entry: T) => Promise<void>,
): Promise<void> {
  const rest = entries.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const entry of rest) {
      if (failed) return;
      try {
        await work(entry);
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

async function writeCheck(
  step: ApplyStep,
  { client, signal, resolve }: Omit<CheckWrites, 'onDone'>,
): Promise<ApiResponse> {
  if (step.kind === 'delete') {
    const reply = await client.send('DELETE', pathOf(step.checkType, step.id), { signal });
    // Another client deleted it, or the response to an earlier attempt was lost.
    return !reply.ok && reply.status === 404 ? { ok: true, json: undefined } : reply;
  }
  const { checkType, id } = step.check;
  // A PUT also creates a check, with the id from the file.
  const given = step.kind === 'create' ? checkBody(step.check, step.leavesChannels) : step.body;
  const found = resolve(given);
  if (!found.ok) return found.refusal;
  const { body } = found;
  const query = step.kind === 'create' ? assignmentQuery(body) : '';
  return client.send('PUT', pathOf(checkType, id) + query, { body, signal });
}

/** A new check is subscribed to every channel of the account, unless it has a list of channels, even an empty one. */
export function assignmentQuery({ alertChannelSubscriptions: named }: Body): string {
  return named === undefined ? '' : '?autoAssignAlerts=false';
}

const warnedSchema = z.looseObject({ warnings: z.array(z.looseObject({ message: z.string() })) });

/** The sentences of the warnings in a response; an earlier release has none. */
function warningsIn(json: unknown): readonly string[] {
  return warnedSchema.safeParse(json).data?.warnings.map(({ message }) => message) ?? [];
}

/** With the type, because an id alone may equal the name of a type. */
function pathOf(checkType: string, id: string): string {
  return `/v1/checks/${checkType.toLowerCase()}/${encodeURIComponent(id)}`;
}

async function writeVariable(
  { kind, variable }: VariableStep,
  client: Client,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const options = { signal, ...VARIABLES_ROLE, isRepeatable: true } as const;
  const { key, value, secret } = variable;
  const update = () =>
    client.send('PUT', `${VARIABLES_PATH}/${encodeURIComponent(key)}`, {
      ...options,
      body: { value, secret },
    });
  if (kind === 'update') return update();
  const created = await client.send('POST', VARIABLES_PATH, { ...options, body: variable });
  if (created.ok || created.status !== 409) return created;
  // Another client created it first, or a response was lost; a 404 means another conflict.
  const updated = await update();
  return !updated.ok && updated.status === 404 ? created : updated;
}
