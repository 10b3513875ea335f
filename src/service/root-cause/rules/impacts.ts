import type { Classification } from '../../../model/result/root-cause-analysis.ts';
import type { AnalysisInput } from '../analysis-input.ts';
import type { Subject } from './subject.ts';
import { listText } from './texts.ts';

type ImpactOf = (subject: Subject) => string;

const NOT_THERE: ImpactOf = ({ target }) => `Users cannot use ${target}: they get no answer.`;

/** What users likely notice of each kind of failure. */
const IMPACTS: Readonly<Record<Classification, ImpactOf>> = {
  DNS_FAILURE: ({ host }) =>
    `Users whose name servers answer alike cannot reach ${host}, or reach another address than they should.`,
  CONNECTION_FAILURE: NOT_THERE,
  CERTIFICATE_PROBLEM: ({ target }) =>
    `Browsers warn users of ${target} and most keep out; programs refuse to connect.`,
  CLIENT_CERTIFICATE_PROBLEM: ({ target }) =>
    `Clients of ${target} that have to show a certificate are refused; others are not concerned.`,
  TLS_FAILURE: NOT_THERE,
  CONNECTION_LOST: ({ target }) =>
    `Requests to ${target} break off: users see errors or half a page.`,
  PROTOCOL_VIOLATION: ({ target }) =>
    `Browsers and programs may refuse what ${target} sends, or show it wrongly.`,
  REDIRECT_PROBLEM: ({ target }) => `Users of ${target} are sent around and do not arrive.`,
  ACCESS_DENIED: ({ target }) =>
    `Whoever has the same rights as the check is refused by ${target}; users with their own credentials need not be.`,
  NOT_FOUND: ({ target }) => `Users find nothing at this address of ${target}.`,
  RATE_LIMITED: ({ target }) =>
    `Clients of ${target} that share the limit of the check are refused until it ends; others need not be.`,
  CLIENT_ERROR: ({ target }) => `Clients that send what the check sends are refused by ${target}.`,
  SERVER_ERROR: ({ target }) =>
    `Users of this address of ${target} get an error in place of an answer.`,
  GATEWAY_ERROR: ({ target }) =>
    `Users of this address of ${target} get an error in place of an answer.`,
  SERVICE_UNAVAILABLE: ({ target }) => `Users of ${target} are turned away for now.`,
  UNEXPECTED_CONTENT: ({ target }) =>
    `${target} answers, and users may see something wrong or incomplete.`,
  UNEXPECTED_SUCCESS: ({ target }) =>
    `Users notice nothing; ${target} can be reached by those who should not.`,
  TIMEOUT: ({ target }) => `Users of ${target} wait, and then get nothing.`,
  SLOW_RESPONSE: ({ target }) => `Users of ${target} wait longer than they should.`,
  PACKET_LOSS: ({ target }) =>
    `Connections to ${target} over the same way are slow, stall or do not come about.`,
  CHECK_CONFIGURATION: ({ target }) =>
    `None is known: the check did not get as far as asking ${target}, which is not watched meanwhile.`,
  AGENT_PROBLEM: ({ target }) =>
    `None is known: ${target} was not asked, and is not watched meanwhile.`,
  UNKNOWN: ({ target }) =>
    `Not known: what is stored does not show what users of ${target} notice.`,
};

/** With the locations. */
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
    ? `Likely only those near ${subject.location} are concerned, as the check passes in ${shown}. ${impact}`
    : `${impact} It is not so everywhere: the check passes in ${shown}.`;
}
