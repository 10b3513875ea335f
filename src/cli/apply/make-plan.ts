import { z } from 'zod';
import type { Check } from '../../model/check.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { ApiClient } from './api-client.ts';
import { allPages } from './locations.ts';
import { type KnownCheck, knownCheckOf } from './normal-form.ts';
import { type Fate, type Plan, planOf } from './plan.ts';

export interface PlanRequest {
  /** Of the file, each with a location. */
  readonly checks: readonly Check[];
  /** What is to become of a check of the account that is not among them. */
  readonly fateOf: (id: string) => Fate;
}

const listSchema = z.array(z.unknown());

/**
 * Asks the service what it has, and says what makes that the same as the file.
 *
 * @throws VedetteError like ApiClient.get
 */
export async function makePlan(
  { checks, fateOf }: PlanRequest,
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<Plan> {
  const known = await allPages(client, '/v1/checks', readChecks, signal);
  return planOf(checks, known, fateOf);
}

function readChecks(json: unknown): readonly KnownCheck[] {
  const list = listSchema.safeParse(json);
  if (list.success) return list.data.map(knownCheckOf);
  const message = 'SERVICE_URL names no Vedette service: its list of checks is none';
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}
