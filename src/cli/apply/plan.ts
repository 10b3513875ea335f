import { z } from 'zod';
import type { Check } from '../../model/check/check.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { FileResources } from '../../model/check-file/sections.ts';
import { logicalIdOf } from '../../model/logical-id.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { allPages } from '../service-api/all-pages.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { type CheckPlan, planChanges, type UnlistedAction } from './check-plan.ts';
import { type EscalationChange, planEscalation } from './escalation-plan.ts';
import { type KnownCheck, knownCheckOf } from './normal-form.ts';
import { withChannelIds } from './resources/channel-names.ts';
import {
  checksWithoutChannels,
  knownWithEntryIds,
  withReferences,
} from './resources/references.ts';
import {
  compareChannels,
  planResources,
  type ResourcePlan,
  readKnownResources,
  type UnlistedResourceOf,
} from './resources/resource-plan.ts';
import { withKnownValues } from './resources/unfilled-texts.ts';
import { readKnownVariables, type VariablePlan, variablePlanOf } from './variable-plan.ts';
import {
  NOTHING_WRITTEN,
  type WriteHistory,
  withWrittenChecks,
  withWrittenValues,
} from './write-history.ts';

export interface ApplyPlan extends CheckPlan {
  /** Written first, because the other resources may need them. */
  readonly variables: VariablePlan;
  /** Channels, groups, heartbeats, windows and status pages. */
  readonly resources: ResourcePlan;
  /** null if there is nothing to change. */
  readonly escalation: EscalationChange | null;
}

export interface PlanRequest {
  /** The variables of the file itself. */
  readonly variables: readonly OwnVariable[];
  /** The checks of the file, each with a location. */
  readonly checks: readonly Check[];
  /** The `name` of the file; null if it has none. */
  readonly fileName: string | null;
  /** The other resources of the file. */
  readonly resources: FileResources;
  /** Decides what to do with a check of the account that is not in the file. */
  readonly unlistedActionOf: (id: string) => UnlistedAction;
  /** Decides what to do with other resources that a file created and no longer defines. */
  readonly unlistedResourceOf: UnlistedResourceOf;
  /** Whether a text of the resources must not be shown. Default: decided by the field. */
  readonly isSecret?: (text: string) => boolean;
  /** What this process has written before. Default: nothing. */
  readonly written?: WriteHistory;
  /** Whether the plan will not be written, so that a read-only key suffices. Default: false. */
  readonly onlyReads?: boolean;
  /** Whether names in channels and secret variables have no values, and are not compared; false if left out. */
  readonly isUnfilled?: boolean;
}

const listSchema = z.array(z.unknown());

/**
 * Reads the state of the service and plans the steps that make it match the file.
 *
 * @throws VedetteError like ApiClient.get
 */
export async function makePlan(
  {
    checks,
    variables,
    resources: given,
    fileName,
    unlistedActionOf,
    unlistedResourceOf,
    isSecret = () => false,
    written = NOTHING_WRITTEN,
    onlyReads = false,
    isUnfilled = false,
  }: PlanRequest,
  client: Pick<ApiClient, 'get' | 'send'>,
  signal: AbortSignal,
): Promise<ApplyPlan> {
  const knownChecks = await allPages(client, '/v1/checks', readChecks, signal);
  const knownVariables = await allPages(client, '/v1/variables', readKnownVariables, signal);
  const knownResources = await readKnownResources(client, signal);
  const { resources, problems } = withChannelIds(given, knownResources.alertChannels);
  const file = { ...resources, fileName };
  const options = { client, signal, onlyReads, isUnfilled };
  const comparison = await compareChannels(file, knownResources, options);
  const planned = planResources(file, knownResources, {
    unlistedResourceOf,
    comparison,
    isSecret,
    isUnfilled,
    problems,
  });
  const known = knownWithEntryIds(withWrittenChecks(knownChecks, written), planned.ids);
  const variablesBefore = withWrittenValues(knownVariables, written);
  const own =
    fileName === null
      ? checks
      : checks.map((check) => ({ ...check, logicalId: logicalIdOf({ file: fileName, ...check }) }));
  return {
    ...planChanges(withReferences(own, resources.references), known, {
      fileName,
      unlistedActionOf,
      problems,
      withoutChannels: checksWithoutChannels(given.references),
    }),
    resources: planned,
    escalation: await planEscalation(given.escalationStep, planned.ids, client, signal),
    variables: variablePlanOf(
      isUnfilled ? withKnownValues(variables, variablesBefore) : variables,
      variablesBefore,
    ),
  };
}

function readChecks(json: unknown): readonly KnownCheck[] {
  const list = listSchema.safeParse(json);
  if (list.success) return list.data.map(knownCheckOf);
  const message = 'SERVICE_URL names no Vedette service: its list of checks is not valid';
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}
