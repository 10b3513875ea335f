import { dependencyLevels } from '../../model/check/dependencies.ts';
import { SECTIONS, type Section } from '../../model/check-file/sections.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import type { ApplyRefusal, ApplyStep } from './check-plan.ts';
import { type EscalationChange, writeEscalation } from './escalation-plan.ts';
import type { ApplyPlan } from './plan.ts';
import { type ResourceIds, triggeredServices } from './resources/references.ts';
import type { Fields } from './resources/resource-fields.ts';
import type { ResourceStep } from './resources/resource-plan.ts';
import { resolved, type WriteContext, writeResource } from './resources/write-resources.ts';
import type { VariableStep } from './variable-plan.ts';
import { writeAll, writeChecks, writeVariables } from './write-steps.ts';

/** The steps that succeeded. */
export interface AppliedChanges {
  readonly variables: VariableStep[];
  readonly steps: ApplyStep[];
  readonly resources: ResourceStep[];
  readonly escalations: EscalationChange[];
}

export function noChanges(): AppliedChanges {
  return { variables: [], steps: [], resources: [], escalations: [] };
}

export function hasChanges({ variables, steps, resources, escalations }: AppliedChanges): boolean {
  return variables.length + steps.length + resources.length + escalations.length > 0;
}

export interface WriteOptions {
  readonly client: Pick<ApiClient, 'get' | 'send'>;
  readonly signal: AbortSignal;
  /** Receives each step when it has succeeded. */
  readonly done: AppliedChanges;
  /** Called with the warnings with which the service accepted a check. */
  readonly onWarnings?: (step: ApplyStep, warnings: readonly string[]) => void;
  /** Called with refusals as they occur, because an error may end the work before the list is complete. */
  readonly onRefused?: (refusals: readonly ApplyRefusal[]) => void;
}

/** Sections that checks may refer to, which are written before the checks. */
const BEFORE_CHECKS: readonly Section[] = ['alertChannels', 'groups', 'heartbeats'];
const AFTER_CHECKS = SECTIONS.filter((section) => !BEFORE_CHECKS.includes(section));

/**
 * Runs the steps in dependency order, and deletions last, in reverse order. Continues after a refused step. The
 * next run completes an interrupted one.
 *
 * @returns what was refused
 * @throws VedetteError like ApiClient.send
 */
export async function writePlan(
  plan: ApplyPlan,
  { client, signal, done, onWarnings = () => {}, onRefused = () => {} }: WriteOptions,
): Promise<readonly ApplyRefusal[]> {
  const { steps, ids, isEntry } = plan.resources;
  const context: WriteContext = { client, signal, ids, isEntry };
  const refusals: ApplyRefusal[] = [];
  const refuse = (some: readonly ApplyRefusal[]): void => {
    refusals.push(...some);
    onRefused(some);
  };
  refuse([...plan.refusals, ...plan.resources.refusals]);

  const write = async (
    section: Section,
    some: readonly ResourceStep[],
    onDone: (step: ResourceStep) => void = (step) => void done.resources.push(step),
  ): Promise<void> => {
    const idOf = ({ id }: ResourceStep): string => id;
    const send = (step: ResourceStep) => writeResource(step, context);
    refuse(await writeAll(some, { kind: section, idOf, write: send, onDone }));
  };
  const writeSomeChecks = async (some: readonly ApplyStep[]): Promise<void> => {
    const refused = await writeChecks(some, {
      client,
      signal,
      resolve: (body) => resolved(body, context),
      onDone: (step, warnings) => {
        done.steps.push(step);
        onWarnings(step, warnings);
      },
    });
    refuse(refused);
  };
  const stepsOf = (section: Section, isDeletion: boolean): readonly ResourceStep[] =>
    steps.filter((step) => step.section === section && (step.kind === 'delete') === isDeletion);

  const ofVariables = await writeVariables(plan.variables.steps, client, signal, (step) => {
    done.variables.push(step);
  });
  refuse(ofVariables);
  const early = servicesBeforeChecks(plan);
  await write('statusServices', [...early.values()], () => {});
  for (const section of BEFORE_CHECKS) await write(section, stepsOf(section, false));
  for (const level of parentsFirst(plan.steps)) await writeSomeChecks(level);
  for (const section of AFTER_CHECKS) {
    const changes = stepsOf(section, false).flatMap((step) => rest(step, early, ids));
    await write(section, changes, (step) => {
      done.resources.push(
        // Reports the planned step; for a service that was created early, only the rest is written here.
        steps.find((one) => one.section === step.section && one.id === step.id) ?? step,
      );
    });
  }
  for (const section of AFTER_CHECKS.toReversed()) await write(section, stepsOf(section, true));
  await writeSomeChecks(plan.steps.filter(({ kind }) => kind === 'delete'));
  for (const section of BEFORE_CHECKS.toReversed()) await write(section, stepsOf(section, true));
  // Written last, because a key that may write everything else may lack the role for it.
  const ofEscalation = await writeAll(plan.escalation === null ? [] : [plan.escalation], {
    kind: 'escalation',
    idOf: () => 'escalationStep',
    write: (change) => writeEscalation(change, { client, ids, signal }),
    onDone: (change) => void done.escalations.push(change),
  });
  refuse(ofEscalation);
  return refusals;
}

/** Groups the steps that write checks into levels: each level depends only on earlier ones. */
function parentsFirst(steps: readonly ApplyStep[]): readonly (readonly ApplyStep[])[] {
  const written = steps.flatMap((step) => {
    if (step.kind === 'delete') return [];
    const { id, dependsOn } = step.check;
    return [{ id, dependsOn, step }];
  });
  const { levels, inCycles } = dependencyLevels(written);
  return [...levels, inCycles].map((level) => level.map(({ step }) => step));
}

type Creation = ResourceStep & { readonly kind: 'create' };

/** Fields of a service that name checks. */
const NAMING_CHECKS: ReadonlySet<string> = new Set(['checkIds', 'heartbeatIds']);

/**
 * Services that incidents of checks name, keyed by their id in the file. They are created first, without their own
 * checks, because services and checks refer to each other.
 */
function servicesBeforeChecks({ steps, resources }: ApplyPlan): ReadonlyMap<string, Creation> {
  const checks = steps.flatMap((step) =>
    step.kind === 'delete' ? [] : [step.kind === 'create' ? { ...step.check } : step.body],
  );
  const heartbeats = resources.steps.flatMap((step) =>
    step.section === 'heartbeats' && step.kind !== 'delete' ? [step.body] : [],
  );
  const named = triggeredServices([...checks, ...heartbeats]);
  return new Map(
    resources.steps.flatMap((step) => {
      if (step.section !== 'statusServices' || step.kind !== 'create') return [];
      if (!named.has(step.id)) return [];
      return [[step.id, { ...step, body: fieldsOf(step.body, false) }] as const];
    }),
  );
}

/** The rest of a step after `early`: for a created service, only its checks. */
function rest(
  step: ResourceStep,
  early: ReadonlyMap<string, Creation>,
  ids: ResourceIds,
): readonly ResourceStep[] {
  const isEarly = step.section === 'statusServices' && early.has(step.id);
  if (!isEarly || step.kind !== 'create') return [step];
  const serviceId = ids.idOf(step.section, step.id);
  // The creation was refused, which is already reported.
  if (serviceId === null) return [];
  const { section, id, body } = step;
  const update = { kind: 'update', section, id, serviceId, before: null, changes: [] } as const;
  return [{ ...update, body: fieldsOf(body, true) }];
}

function fieldsOf(body: Fields, namingChecks: boolean): Fields {
  return Object.fromEntries(
    Object.entries(body).filter(([field]) => NAMING_CHECKS.has(field) === namingChecks),
  );
}
