import type { ApiClient, ApiReply } from './api-client.ts';
import { inParallel } from './carry-out.ts';
import { type Refusal, refusalOf } from './plan.ts';
import type { VariableStep } from './variable-plan.ts';

const PATH = '/v1/variables';
const CONCURRENCY = 4;
const CONFLICT = 409;
const NOT_FOUND = 404;
/** The values of templates decide what every check sends, and where. */
const ROLE = 'admin';

/**
 * Runs the steps; a refused step does not stop the others. Every step may be
 * done again.
 *
 * @returns what was refused, in the order of the steps
 * @throws VedetteError like ApiClient.send; `onDone` was called for each step done before
 */
export async function writeVariables(
  steps: readonly VariableStep[],
  client: Pick<ApiClient, 'send'>,
  signal: AbortSignal,
  onDone: (step: VariableStep) => void,
): Promise<readonly Refusal[]> {
  const replies = new Array<ApiReply | null>(steps.length).fill(null);
  await inParallel(steps, CONCURRENCY, async (step, index) => {
    const reply = await send(step, client, signal);
    replies[index] = reply;
    if (reply.ok) onDone(step);
  });
  return steps.flatMap(({ variable }, index) => {
    const reply = replies[index] ?? null;
    if (reply === null || reply.ok) return [];
    return [refusalOf({ kind: 'variable', id: variable.key }, reply)];
  });
}

async function send(
  { kind, variable }: VariableStep,
  client: Pick<ApiClient, 'send'>,
  signal: AbortSignal,
): Promise<ApiReply> {
  const options = { signal, role: ROLE, isRepeatable: true } as const;
  const { key, value, secret } = variable;
  const update = () =>
    client.send('PUT', `${PATH}/${encodeURIComponent(key)}`, {
      ...options,
      body: { value, secret },
    });
  if (kind === 'update') return update();
  const created = await client.send('POST', PATH, { ...options, body: variable });
  if (created.ok || created.status !== CONFLICT) return created;
  // Somebody else was first, or an answer got lost; or another thing is in its way.
  const updated = await update();
  return !updated.ok && updated.status === NOT_FOUND ? created : updated;
}
