import { isDeepStrictEqual } from 'node:util';
import { assertionProblems } from '../../model/check/assertions/assertion-problems.ts';
import { type Check, checkBodySchema } from '../../model/check/check.ts';
import { credentialTexts, URL_FIELDS } from '../../model/credentials/credential-fields.ts';
import { targetChange, targetOf } from '../../model/credentials/credential-target.ts';
import { MASK } from '../../model/credentials/mask.ts';
import {
  type CredentialProblem,
  maskProblems,
  withRetainedCredentials,
} from '../../model/credentials/retained-credentials.ts';
import { urlSecretOf } from '../../model/credentials/url-secret.ts';
import type { RunnableCheckType } from '../../model/enums.ts';
import { isReservedCheckId, reservedCheckIdText } from '../../model/ids.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { conflict, invalid, type RequestProblem } from '../errors.ts';
import { givenFields } from '../http/resources/given-fields.ts';
import { bodyProblem, validBody } from '../http/resources/input-problems.ts';
import { problemAt } from '../http/resources/problems.ts';
import { typeProblem } from './check-schemas.ts';
import { type StoredCheck, sealedVariablesOf } from './sql.ts';
import type { CheckVariables, VariablesChange } from './variables/check-variables.ts';
import { refuseMaskedVariables, withRetainedVariables } from './variables/retained-variables.ts';

/** Fields of a check as a caller sent them, not validated yet. */
export type CheckInput = Readonly<Record<string, unknown>>;

/** Ignored in an update. */
const RESPONSE_ONLY = ['created_at', 'updated_at', 'alertChannels', 'warnings'];

/**
 * Refuses masks in a new check: there are no stored values that they could refer to.
 *
 * @throws ServiceError 400
 */
export function refuseMasks(check: Check): void {
  refuse(maskProblems(check.request));
  refuseMaskedVariables(check.variables);
}

/** A change of a stored check, validated and not stored yet. */
export interface CheckChange extends VariablesChange {
  readonly key: AccountKey;
}

/**
 * Returns the stored check with the given fields, each replaced as a whole. A mask keeps the stored secret.
 *
 * @throws ServiceError 400 where the result is invalid, 409 for a heartbeat
 */
export type ChangeCheck = (
  sql: Sql,
  accountId: string,
  stored: StoredCheck,
  input: CheckInput,
) => Promise<CheckChange>;

export function createCheckChanges({
  checkVariables,
}: {
  readonly checkVariables: Pick<CheckVariables, 'open'>;
}): ChangeCheck {
  /** null if the URL has none. A template in the secret may change the host. */
  async function urlSecret(sql: Sql, key: AccountKey, { request }: Check): Promise<string | null> {
    if (!('url' in request)) return null;
    const secret = urlSecretOf(request.url);
    if (secret === null || secret.text !== MASK) return secret?.text ?? null;
    const opened = checkVariables.open(key, { request }, await sealedVariablesOf(sql, key));
    return credentialTexts(opened.request).get(URL_FIELDS[secret.part].id) ?? null;
  }

  return async (sql, accountId, stored, input) => {
    const before = runnable(stored);
    const { id, ...fields } = before;
    const given = changesIn(input, { id, checkType: before.checkType });
    const { variables, retained } = withRetainedVariables(given.variables, before.variables);
    const key = { accountId, id };
    const secret = await urlSecret(sql, key, before);
    const target = targetOf(before.request, secret);
    const { request, problems } = withRetainedCredentials(given.request, {
      before: before.request,
      changeOf: (other) =>
        targetChange(
          { target, variables: before.variables },
          { target: targetOf(other, secret), variables },
          retained,
        ),
    });
    refuse(problems);
    const after = wholeCheck({ ...fields, ...given, variables, request }, id, before);
    refuseMaskedVariables(after.variables);
    return { key, before, after, retained };
  };
}

function runnable({ check }: StoredCheck): Check {
  if (check.checkType !== 'HEARTBEAT') return check;
  throw conflict(
    `${check.id} is a heartbeat check: change it at /v1/checks/heartbeats/${check.id}`,
    { checkType: check.checkType },
  );
}

/** @throws ServiceError 400 if there are any */
function refuse(problems: readonly CredentialProblem[]): void {
  if (problems.length === 0) return;
  throw invalid(problems.map(({ path, message }) => bodyProblem(['request', ...path], message)));
}

/**
 * Refuses to create a check without these fields: the PUT was meant for an existing check.
 *
 * @throws ServiceError 400 with the missing fields
 */
export function refuseIncomplete(input: CheckInput, needed: readonly string[]): void {
  const missing = needed.filter((field) => input[field] === undefined);
  if (missing.length === 0) return;
  const message = 'is missing: no check has the id in the path, and a new one needs this field';
  throw invalid(missing.map((field) => bodyProblem([field], message)));
}

/**
 * Refuses an id under which a new check or heartbeat could not be read. Stored ones keep theirs: earlier
 * releases accepted them.
 *
 * @throws ServiceError 400
 */
export function refuseReservedId(id: string): void {
  if (isReservedCheckId(id)) throw invalid([problemAt('params', ['id'], reservedCheckIdText(id))]);
}

/** @throws ServiceError 400 where it names a type that no new check can have */
export function refuseType({ checkType }: CheckInput): void {
  const problem = checkType === undefined ? null : typeProblem(checkType);
  if (problem !== null) throw invalid([bodyProblem(['checkType'], problem)]);
}

/** Validates the fields, which contain no id, and fills in all defaults. */
export function wholeCheck(fields: CheckInput, id: string, before: Check | null): Check {
  const valid = validBody(checkBodySchema, fields);
  const problems = [...newAssertionProblems(valid, before)];
  const { locations, privateLocations } = valid;
  if ((locations?.length ?? 0) + (privateLocations?.length ?? 0) === 0) {
    const message =
      'is empty, and so is privateLocations: one of them must name at least one location';
    problems.push(bodyProblem(['locations'], message));
  }
  if (problems.length > 0) throw invalid(problems);
  return { ...valid, id };
}

/**
 * Finds problems only in assertions that `before` does not have: an earlier release accepted some that no
 * response can satisfy, and checks that contain them can still be changed otherwise.
 */
function newAssertionProblems(
  { request }: Pick<Check, 'request'>,
  before: Check | null,
): readonly RequestProblem[] {
  const stored = before?.request.assertions ?? [];
  const given = request.assertions.map((assertion) =>
    stored.some((other) => isDeepStrictEqual(other, assertion)) ? null : assertion,
  );
  return assertionProblems(given, request).map(({ path, message }) =>
    bodyProblem(['request', 'assertions', ...path], message),
  );
}

/** @throws ServiceError 400 where the id or the type differs from that of the check */
export function changesIn(
  input: CheckInput,
  fixed: { readonly id: string; readonly checkType: RunnableCheckType | undefined },
): CheckInput {
  return givenFields(input, { fixed, responseOnly: RESPONSE_ONLY });
}
