import { z } from 'zod';
import type { OwnVariable } from '../../model/check/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';

/** A variable of the account as the API returns it. */
export interface KnownVariable {
  readonly key: string;
  /** null if it is secret: the service never returns secret values. */
  readonly value: string | null;
  readonly secret: boolean;
}

/** One change of a variable of the account. Its value must never be shown. */
export interface VariableStep {
  readonly kind: 'create' | 'update';
  readonly variable: OwnVariable;
  /** The fields that differ; empty if a secret value is written again and may be unchanged. */
  readonly changes: readonly ('value' | 'secret')[];
}

export interface VariablePlan {
  /** In the order of the file. */
  readonly steps: readonly VariableStep[];
  readonly unchanged: number;
  /** The number of variables of the account that are not in the file. They always stay, since agents may need them. */
  readonly others: number;
}

/** Plans the steps that make the account's variables match those of the file. */
export function variablePlanOf(
  variables: readonly OwnVariable[],
  known: readonly KnownVariable[],
): VariablePlan {
  const byKey = new Map(known.map((variable) => [variable.key, variable]));
  const steps: VariableStep[] = [];
  for (const variable of variables) {
    const before = byKey.get(variable.key);
    byKey.delete(variable.key);
    if (before === undefined) steps.push({ kind: 'create', variable, changes: [] });
    else {
      const changes = changesOf(before, variable);
      if (changes === null) continue;
      steps.push({ kind: 'update', variable, changes });
    }
  }
  return { steps, unchanged: variables.length - steps.length, others: byKey.size };
}

/** null if it is known to match. */
function changesOf(before: KnownVariable, after: OwnVariable): VariableStep['changes'] | null {
  const isOther = before.value !== null && before.value !== after.value;
  const changes: VariableStep['changes'] = [
    ...(isOther ? (['value'] as const) : []),
    ...(before.secret === after.secret ? [] : (['secret'] as const)),
  ];
  return changes.length === 0 && before.value !== null ? null : changes;
}

/** A newer service may return more fields. */
const knownSchema = z.array(
  z.object({ key: z.string(), value: z.string().nullable(), secret: z.boolean() }),
);

/** @throws VedetteError of kind `environment` if it is not a page of variables */
export function readKnownVariables(json: unknown): readonly KnownVariable[] {
  const parsed = knownSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = 'SERVICE_URL names no Vedette service: its list of variables is not valid';
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}
