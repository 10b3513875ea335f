import type { Classification } from '../../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { Subject } from './subject.ts';
import { listText } from './texts.ts';

type ImpactOf = (subject: Subject) => string;

const NOT_THERE: ImpactOf = ({ target }) => `Users cannot use ${target}: they get no answer.`;

/** What users likely notice of each kind of failure. */
const IMPACTS: Readonly<Record<Classification, ImpactOf>> = {
  DNS_FAILURE: ({ host }) =>
    `Users whose name servers give the same answer cannot reach ${host}, or reach the wrong address.`,
  CONNECTION_FAILURE: NOT_THERE,
  CERTIFICATE_PROBLEM: ({ target }) =>
    `Browsers warn users of ${target}, and most do not proceed; programs refuse to connect.`,
  CLIENT_CERTIFICATE_PROBLEM: ({ target }) =>
    `Clients of ${target} that need a certificate are refused; others are not affected.`,
  TLS_FAILURE: NOT_THERE,
  CONNECTION_LOST: ({ target }) =>
    `Requests to ${target} are interrupted: users see errors or incomplete pages.`,
  PROTOCOL_VIOLATION: ({ target }) =>
    `Browsers and programs may reject the responses of ${target}, or show them incorrectly.`,
  REDIRECT_PROBLEM: ({ target }) => `Users of ${target} are redirected and do not reach a page.`,
  ACCESS_DENIED: ({ target }) =>
    `Users with the same rights as the check are refused by ${target}; users with their own credentials may not be affected.`,
  NOT_FOUND: ({ target }) => `Users find nothing at this address of ${target}.`,
  RATE_LIMITED: ({ target }) =>
    `Clients of ${target} that share the limit of the check are refused until it resets; others may not be affected.`,
  CLIENT_ERROR: ({ target }) => `Clients that send what the check sends are refused by ${target}.`,
  SERVER_ERROR: ({ target }) =>
    `Users of this address of ${target} get an error in place of an answer.`,
  GATEWAY_ERROR: ({ target }) =>
    `Users of this address of ${target} get an error in place of an answer.`,
  SERVICE_UNAVAILABLE: ({ target }) => `Users of ${target} are refused at the moment.`,
  UNEXPECTED_CONTENT: ({ target }) =>
    `${target} answers, but users may see something wrong or incomplete.`,
  UNEXPECTED_SUCCESS: ({ target }) =>
    `Users notice nothing, but ${target} can be reached by people who should not reach it.`,
  TIMEOUT: ({ target }) => `Users of ${target} wait and then get no answer.`,
  SLOW_RESPONSE: ({ target }) => `Users of ${target} wait longer than they should.`,
  PACKET_LOSS: ({ target }) =>
    `Connections to ${target} over the same route are slow, stall or fail.`,
  CHECK_CONFIGURATION: ({ target }) =>
    `None is known: the check sent no request to ${target}, which is not monitored meanwhile.`,
  AGENT_PROBLEM: ({ target }) =>
    `None is known: no request was sent to ${target}, which is not monitored meanwhile.`,
  UNKNOWN: ({ target }) =>
    `Not known: the stored result does not show what users of ${target} notice.`,
};

/** Describes the impact, including the affected locations. */
export function impactOf(
  classification: Classification,
  subject: Subject,
  { surroundings }: AnalysisInput,
): string {
  const impact = IMPACTS[classification](subject);
  const { others } = surroundings;
  if (others.length === 0 || classification === 'AGENT_PROBLEM') return impact;
  const passing = others.filter(({ passed }) => passed).map(({ location }) => location);
  if (passing.length === 0)
    return `${impact} This is the case in every location that was examined.`;
  const shown = listText(passing, 5);
  return passing.length === others.length
    ? `Likely only users near ${subject.location} are affected, as the check passes in ${shown}. ${impact}`
    : `${impact} Not all locations are affected: the check passes in ${shown}.`;
}
