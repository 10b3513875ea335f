import { isIP, isIPv6 } from 'node:net';
import type { Check } from '../../model/check/check.ts';
import { type FamilyChoice, IP_FAMILIES, type IpFamily } from '../../model/enums.ts';
import type { FamilyOutcome } from '../../model/result/details/check-detail.ts';
import type { Failure } from '../../model/result/error-codes.ts';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import { millisecondsText } from '../../runtime/text/duration-text.ts';
import { hostHasIpv6 } from '../net/address-family.ts';
import { type Attempt, type AttemptOptions, makeAttempt } from './attempt.ts';
import type { AttemptParts } from './observe.ts';

/** An attempt over one address family. */
interface FamilyAttempt {
  readonly ipFamily: IpFamily;
  readonly attempt: Attempt;
}

/**
 * Makes an attempt as `makeAttempt` does. For a check that needs a verdict on each address family
 * (src/model/README.md, "Address families"), makes one attempt over each at the same time: with
 * BOTH the worse one is the outcome, with ANY the better one (pings do not race). The outcome is
 * uncertain as long as a family that could change it has no certain verdict.
 */
export async function attemptFamilies(
  check: Check,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<Attempt> {
  const choice = triedOverEach(check);
  if (choice === null) return await makeAttempt(check, parts, options);
  const all = await Promise.all(
    IP_FAMILIES.map(async (ipFamily): Promise<FamilyAttempt> => {
      const opening = `${options.opening} over ${ipFamily}`;
      const own = { ...options, opening, staysInFamily: true };
      return { ipFamily, attempt: await makeAttempt(overFamily(check, ipFamily), parts, own) };
    }),
  );
  return outcomeOf(all, choice);
}

/** null for a check that is tried once, over one family or by a race of both. */
function triedOverEach(check: Check): 'ANY' | 'BOTH' | null {
  const choice = familyChoiceOf(check);
  if (choice === 'BOTH') return choice;
  if (choice !== 'ANY' || check.checkType !== 'ICMP') return null;
  const isAddress = isIP(withoutBrackets(check.request.hostname)) !== 0;
  return isAddress || !hostHasIpv6() ? null : choice;
}

/** The check restricted to the family of an address. */
export function overFamilyOf(check: Check, address: string | null): Check {
  const choice = familyChoiceOf(check);
  if (address === null || (choice !== 'ANY' && choice !== 'BOTH')) return check;
  return overFamily(check, isIPv6(address) ? 'IPv6' : 'IPv4');
}

function familyChoiceOf({ request }: Check): FamilyChoice {
  return 'ipFamily' in request ? request.ipFamily : 'IPv4';
}

/** The compiler cannot see that the request stays one of the check's type. */
function overFamily(check: Check, ipFamily: IpFamily): Check {
  return { ...check, request: { ...check.request, ipFamily } } as Check;
}

function outcomeOf(all: readonly FamilyAttempt[], choice: 'ANY' | 'BOTH'): Attempt {
  const fromWorst = all.toSorted(
    (one, other) =>
      badness(other.attempt) - badness(one.attempt) ||
      other.attempt.responseTimeMs - one.attempt.responseTimeMs,
  );
  const chosen = choice === 'BOTH' ? fromWorst[0] : fromWorst.at(-1);
  if (chosen === undefined) throw new Error('no family was tried');
  const others = all.filter((each) => each !== chosen);
  for (const other of others) {
    chosen.attempt.jobLog.info(`Over ${other.ipFamily} this attempt ${outcomeText(other.attempt)}`);
  }
  const attempts = all.map(({ attempt }) => attempt);
  const families = all
    .map(familyOutcomeOf)
    // With ANY, a name needs addresses of one family only.
    .filter(({ requestErrorCode }) => choice === 'BOTH' || requestErrorCode !== 'DNS_NO_ADDRESS');
  const { attempt } = chosen;
  return {
    ...attempt,
    durationMs: Math.max(...attempts.map(({ durationMs }) => durationMs)),
    sentMethods: attempts.flatMap(({ sentMethods }) => sentMethods),
    exposedVariable: () =>
      attempts.map((each) => each.exposedVariable()).find((name) => name !== null) ?? null,
    starvedMs: Math.max(...attempts.map(({ starvedMs }) => starvedMs)),
    // A certain failure stands without the body of the other family. Otherwise both need memory.
    lackedBytes: failsForCertain(attempt)
      ? 0
      : attempts.reduce((sum, { lackedBytes }) => sum + lackedBytes, 0),
    secrets: {
      values: [...new Set(attempts.flatMap(({ secrets }) => secrets.values))],
      dropped: Math.max(...attempts.map(({ secrets }) => secrets.dropped)),
    },
    detail: (extras) => attempt.detail({ families, ...extras }),
    forget: () => {
      for (const each of attempts) each.forget();
    },
  };
}

/**
 * Higher is worse. An uncertain verdict may be a failure, so it comes right below a certain one. A
 * fault of the agent says nothing about the target: it is better than a failure, but not a pass.
 */
function badness(attempt: Attempt): number {
  const { verdict } = attempt;
  if (failsForCertain(attempt)) return 4;
  if (!isJudged(attempt)) return 3;
  if (verdict.hasErrors) return 2;
  return verdict.isDegraded ? 1 : 0;
}

function failsForCertain(attempt: Attempt): boolean {
  return isJudged(attempt) && attempt.verdict.hasFailures;
}

/** False also if there was no memory for the body. */
function isJudged({ isCertain, lackedBytes }: Attempt): boolean {
  return isCertain && lackedBytes === 0;
}

function familyOutcomeOf({ ipFamily, attempt }: FamilyAttempt): FamilyOutcome {
  const { endpoint, verdict, responseTimeMs } = attempt;
  const failure = notJudged(attempt) ?? attempt.failure;
  const failed = verdict.hasFailures || verdict.hasErrors || !isJudged(attempt);
  return {
    ipFamily,
    address: endpoint?.address ?? null,
    outcome: failed ? 'failed' : verdict.isDegraded ? 'degraded' : 'passed',
    responseTime: responseTimeMs,
    requestErrorCode: failure?.code ?? null,
    requestError: failure?.message ?? null,
  };
}

/**
 * The failure of a family without a certain verdict: a fault of the agent, whatever the target did.
 * null if the verdict is certain.
 */
function notJudged(attempt: Attempt): Failure | null {
  if (isJudged(attempt)) return null;
  const { lackedBytes } = attempt;
  const lack = lackedBytes > 0 ? 'had no memory for its body' : 'was short of CPU';
  return { code: 'INTERNAL_ERROR', message: `This family was not judged: the agent ${lack}` };
}

function outcomeText(attempt: Attempt): string {
  const { verdict, responseTimeMs } = attempt;
  const failure = notJudged(attempt) ?? attempt.failure;
  if (failure !== null) return `ended with ${failure.code}: ${failure.message}`;
  if (verdict.hasFailures) return 'failed';
  const took = `in ${millisecondsText(responseTimeMs)}`;
  return verdict.isDegraded ? `was degraded, ${took}` : `passed ${took}`;
}
