import type { Check } from '../../model/check/check.ts';
import { maskRequest } from '../../model/credentials/credential-fields.ts';
import type { Allowance } from '../accounts/allowance.ts';
import {
  type ChangeCheck,
  type CheckInput,
  refuseMasks,
  wholeCheck,
} from '../checks/check-input.ts';
import { requireReferences } from '../checks/check-references.ts';
import { anyCheckBody } from '../checks/check-schemas.ts';
import { findCheck, sealedVariablesOf } from '../checks/shared.sql.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { Sql } from '../database/store.ts';
import { invalid, notFound, type RequestProblem, ServiceError } from '../errors.ts';
import { validBody } from '../http/resources/input-problems.ts';

export interface TrialCheckParts {
  readonly checkVariables: Pick<CheckVariables, 'seal' | 'sealChanged' | 'open'>;
  readonly changed: ChangeCheck;
  readonly allowance: Pick<Allowance, 'admitCheck'>;
}

/** The check of a trial as it is stored. */
export interface SealedTrialCheck {
  readonly name: string;
  readonly checkType: Check['checkType'];
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly sealedVariables: Buffer | null;
}

const MAX_TARGET_CHARS = 1_000;
/** The prefix of problems in the field `check` of the body. */
const INSIDE = 'body.check';

/**
 * Validates the check of a trial as if it were stored, or as if it changed the check of an id, and seals
 * it with the id of the trial.
 *
 * @throws ServiceError as for a check that is stored, with the problems in `body.check`; 404 where no
 *   check has the id
 */
export async function sealTrialCheck(
  tx: Sql,
  trial: { readonly accountId: string; readonly id: string },
  { input, checkId }: { readonly input: CheckInput; readonly checkId: string | null },
  { checkVariables, changed, allowance }: TrialCheckParts,
): Promise<SealedTrialCheck> {
  const { accountId } = trial;
  const check = await insideCheck(async () => {
    if (checkId === null) {
      const { warnings: _, ...fields } = validBody(anyCheckBody, input);
      const created = wholeCheck(fields, trial.id, null);
      refuseMasks(created);
      allowance.admitCheck(accountId, created, null);
      await requireReferences(tx, { accountId, before: null, after: created });
      return created;
    }
    const stored = await findCheck(tx, { accountId, id: checkId });
    if (stored === null) throw notFound('check');
    const change = await changed(tx, accountId, stored, input);
    const { key, before, after } = change;
    allowance.admitCheck(accountId, after, before);
    await requireReferences(tx, { accountId, before, after });
    const former = (): Promise<Buffer | null> => sealedVariablesOf(tx, key);
    const sealed = await checkVariables.sealChanged(key, change, former);
    const sealedVariables = sealed.sealedVariables ?? null;
    const stays = sealed.sealedVariables === undefined ? await former() : sealedVariables;
    return checkVariables.open(key, { ...sealed.check }, stays) as unknown as Check;
  });
  const sealed = checkVariables.seal(accountId, runOnce({ ...check, id: trial.id }));
  const { id: _, ...body } = sealed.check;
  return {
    name: check.name,
    checkType: check.checkType,
    target: targetText(check),
    body,
    sealedVariables: sealed.sealedVariables,
  };
}

/** Removes retries: a trial has a single attempt. */
function runOnce(check: Check): Check {
  return { ...check, retryStrategy: null, doubleCheck: false };
}

/** Where the check sends its request, without credentials. */
function targetText({ request }: Check): string {
  return targetOf(maskRequest(request)).slice(0, MAX_TARGET_CHARS);
}

function targetOf(request: Check['request']): string {
  if ('url' in request) return request.url;
  if ('query' in request) return request.query;
  return 'port' in request ? `${request.hostname}:${request.port}` : request.hostname;
}

async function insideCheck<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 400) throw error;
    const problems = (error.attributes.problems ?? []) as readonly RequestProblem[];
    throw invalid(
      problems.map(({ path, message }) => ({ path: path.replace(/^body/, INSIDE), message })),
    );
  }
}
