import { RCODE, rcodeName } from '../../../../model/check/assertions/response-codes.ts';
import type { Failure } from '../../../../model/result/error-codes.ts';
import type { Family } from '../../resolver.ts';
import { addressesIn, addressType } from '../address-answer.ts';
import { errorCodeOf, serverText } from '../exchange-failures.ts';
import type { Answered, DnsExchangeOptions } from '../exchange-with-fallback.ts';
import { displayName } from '../message/names.ts';
import { askNameServers, type NameServers } from './name-servers.ts';
import { foundOrNull, lookupFailure, type Missed, type SourceResult } from './source-result.ts';

/** Time limit for the query for the other family, which only makes a message clearer. */
const OTHER_FAMILY_MS = 1000;

interface Attempt {
  readonly name: string;
  readonly result: SourceResult;
  /** The answer without an address; null if there was no such answer. */
  readonly answered: Answered | null;
}

/**
 * Queries each candidate name (at least one) until one has addresses. As in the C library, an
 * unknown name, a name without addresses and SERVFAIL lead to the next candidate, and silence ends
 * the search. A problem with a name that exists is reported before a name that does not exist.
 */
export async function askForAddresses(
  candidates: readonly string[],
  family: Family,
  nameServers: NameServers,
  options: DnsExchangeOptions,
): Promise<SourceResult> {
  let best: (Attempt & { result: Missed }) | null = null;
  for (const name of candidates) {
    const { result, answered } = await askForOne(name, family, nameServers, options);
    if (result.kind !== 'missed') return result;
    const { code } = result.failure;
    if (best === null || best.result.failure.code === 'DNS_NXDOMAIN') {
      best = { name, result, answered };
    }
    if (code === 'DNS_TIMEOUT' || code === 'DNS_UNREACHABLE') break;
  }
  if (best === null) {
    return lookupFailure({ code: 'DNS_NXDOMAIN', message: 'There is no name to ask for' });
  }
  if (best.answered === null || best.result.failure.code !== 'DNS_NO_ADDRESS') {
    return best.result;
  }
  const clause = await otherFamilyClause(best.name, family, best.answered, options);
  const { failure } = best.result;
  return { ...best.result, failure: { ...failure, message: `${failure.message}${clause}` } };
}

async function askForOne(
  name: string,
  family: Family,
  nameServers: NameServers,
  options: DnsExchangeOptions,
): Promise<Omit<Attempt, 'name'>> {
  const question = { name, type: addressType(family) };
  const answered = await askNameServers(question, nameServers, options);
  if (answered.kind === 'failed') {
    return { result: lookupFailure(answered.failure), answered: null };
  }
  if (answered.message.rcode !== RCODE.NOERROR) {
    return { result: lookupFailure(codeFailure(name, answered)), answered };
  }
  const { addresses, finalName } = addressesIn(answered.message, name, family);
  const found = foundOrNull(addresses);
  if (found !== null) return { result: found, answered };
  const alias =
    finalName.toLowerCase() === name.toLowerCase()
      ? ''
      : `, an alias of ${displayName(finalName)},`;
  const message = `The name ${displayName(name)}${alias} has no IPv${family} address`;
  return { result: lookupFailure({ code: 'DNS_NO_ADDRESS', message }), answered };
}

function codeFailure(name: string, { message: { rcode }, server }: Answered): Failure {
  const answer = `${serverText(server)} answered ${rcodeName(rcode)}`;
  const message =
    rcode === RCODE.NXDOMAIN
      ? `The name ${displayName(name)} does not exist (${answer})`
      : `${answer} to the question for ${displayName(name)}`;
  return { code: errorCodeOf(rcode), message };
}

/** Whether the name has addresses of the other family; queries the server that just answered. */
async function otherFamilyClause(
  name: string,
  family: Family,
  { server }: Answered,
  options: DnsExchangeOptions,
): Promise<string> {
  const other: Family = family === 4 ? 6 : 4;
  const servers: NameServers = { servers: [server], timeoutMs: OTHER_FAMILY_MS, attempts: 1 };
  const result = await askNameServers({ name, type: addressType(other) }, servers, options);
  if (result.kind === 'failed' || result.message.rcode !== RCODE.NOERROR) {
    return `; whether it has an IPv${other} address could not be determined`;
  }
  return addressesIn(result.message, name, other).addresses.length > 0
    ? `; it has an IPv${other} address`
    : ` and no IPv${other} address either`;
}
