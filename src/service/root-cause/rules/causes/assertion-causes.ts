import type { AssertionSource } from '../../../../model/check/assertion.ts';
import { type DetailField, detailOf } from '../../../../model/result/result-summary.ts';
import { countText } from '../../../../runtime/text/count-text.ts';
import { quoted, shortenedToChars } from '../../../../runtime/text/quoted.ts';
import type { ReceivedResult } from '../../../../wire/v1/check-result.ts';
import type { CauseRow } from '../cause.ts';
import { LINKS } from '../links.ts';
import { withFullStop } from '../texts.ts';

export type FailedAssertion = NonNullable<ReceivedResult[DetailField]>['assertions'][number] & {
  readonly error: string;
};

/** In the order of the check. */
export function failedAssertions(result: ReceivedResult): readonly FailedAssertion[] {
  return (detailOf(result)?.assertions ?? []).flatMap((assertion) =>
    assertion.error === null ? [] : [{ ...assertion, error: assertion.error }],
  );
}

interface SourceRow {
  readonly classification: CauseRow['classification'];
  readonly likely: string;
  readonly fix: string;
  readonly links: CauseRow['links'];
}

const CONTENT = 'UNEXPECTED_CONTENT';
const OR_ASSERTION = 'If what came is right, change the assertion.';

/** What a failed assertion on each source likely means. */
export const SOURCE_CAUSES: Readonly<Record<AssertionSource, SourceRow>> = {
  STATUS_CODE: {
    classification: CONTENT,
    likely:
      'The server answered, with another status than the check asks for. Likely the address answers otherwise since a change of the application, or it redirects now.',
    fix: `See what was changed at the address, and where it leads. ${OR_ASSERTION}`,
    links: [LINKS.statusCodes],
  },
  HEADERS: {
    classification: CONTENT,
    likely:
      'Likely the application, its framework or a proxy or CDN before it was changed, and sets the header otherwise.',
    fix: `Compare the headers of the result with those of the last run that passed, and see who sets this one. ${OR_ASSERTION}`,
    links: [LINKS.headerFields],
  },
  JSON_BODY: {
    classification: CONTENT,
    likely:
      'Likely the application gives another value, the form of its JSON has changed, or what came is an error page and no JSON.',
    fix: `Compare the body with what the assertion's JSONPath leads to, and with the last deployment. ${OR_ASSERTION}`,
    links: [LINKS.jsonPath, LINKS.json],
  },
  JSON_SCHEMA: {
    classification: CONTENT,
    likely:
      'Likely the form of the JSON was changed, a field is missing or has another type, or what came is an error page and no JSON.',
    fix: `Look at the body of the result at the places that the error names, and compare with the last deployment. ${OR_ASSERTION}`,
    links: [LINKS.json],
  },
  IP_ADDRESS: {
    classification: CONTENT,
    likely:
      'Another server answered than the check asks for. Likely the name leads elsewhere since a change of its DNS records, of a load balancer or of a CDN.',
    fix: `Look up the name with "dig" and compare with the servers that should answer. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage],
  },
  HTTP_VERSION: {
    classification: CONTENT,
    likely:
      'The server chose another version of HTTP. Likely the server or a proxy before it was changed, or the agent reaches it through a proxy now.',
    fix: `See which versions the server offers by ALPN ("curl -v"), and what stands before it. ${OR_ASSERTION}`,
    links: [],
  },
  TEXT_BODY: {
    classification: CONTENT,
    likely:
      'Likely the content was changed, a part of the page is missing, or an error or login page came in its place.',
    fix: `Look at the body of the result for what came instead. ${OR_ASSERTION}`,
    links: [],
  },
  RESPONSE_TIME: {
    classification: 'SLOW_RESPONSE',
    likely: 'The answer is there, and took longer than the assertion allows.',
    fix: 'Look at the phase that took the time, below. If so much time is normal, change the assertion.',
    links: [],
  },
  RESPONSE_DATA: {
    classification: CONTENT,
    likely:
      'The connection was made, and the service behind it sent something else or nothing. Likely it was changed, is not ready, or expects other data to be sent first.',
    fix: `Connect with "nc" and compare what comes with what the assertion asks for. ${OR_ASSERTION}`,
    links: [],
  },
  RESPONSE_CODE: {
    classification: 'DNS_FAILURE',
    likely: 'The name server answered with another code than the check asks for.',
    fix: `Ask the same with "dig" and compare with the zone at the DNS provider. ${OR_ASSERTION}`,
    links: [LINKS.dnsErrors],
  },
  TEXT_ANSWER: {
    classification: 'DNS_FAILURE',
    likely:
      'The name server answered with other records than the check asks for. Likely the zone was changed, or a change is not everywhere yet.',
    fix: `Compare the answer with the zone at the DNS provider; a change takes as long as the old record's TTL to be seen everywhere. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage],
  },
  JSON_ANSWER: {
    classification: 'DNS_FAILURE',
    likely:
      'The name server answered with other records than the check asks for. Likely the zone was changed, or a change is not everywhere yet.',
    fix: `Compare the answer with the zone at the DNS provider; a change takes as long as the old record's TTL to be seen everywhere. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage, LINKS.jsonPath],
  },
  LATENCY: {
    classification: 'SLOW_RESPONSE',
    likely:
      'Echoes came back, with another latency than the assertion allows. Likely a link on the way is congested or the route has changed.',
    fix: 'Trace the route (mtr) at the time it happens, and see where the time goes up. If so much is normal, change the assertion.',
    links: [LINKS.ping],
  },
  JSON_RESPONSE: {
    classification: CONTENT,
    likely: 'What the ping measured is not what the assertion asks for.',
    fix: 'See the loss and the latencies of the result. If they are normal, change the assertion.',
    links: [LINKS.ping],
  },
  CERTIFICATE: {
    classification: 'CERTIFICATE_PROBLEM',
    likely:
      'The server shows another certificate, or another version of TLS, than the check asks for. Likely the certificate was not renewed in time, was replaced, or another server answers.',
    fix: `Compare the certificate of the result with that of the last run that passed, and see what renews it. ${OR_ASSERTION}`,
    links: [],
  },
};

const MAX_SHOWN = 500;

/** The cause of failed assertions: that of the first one, which often causes the others. */
export function causeOfAssertions(
  failed: readonly [FailedAssertion, ...FailedAssertion[]],
): CauseRow {
  const [first, ...others] = failed;
  const { classification, likely, fix, links } = SOURCE_CAUSES[first.source];
  const more =
    others.length === 0 ? '' : ` ${countText(others.length, 'other assertion')} failed too.`;
  return {
    classification,
    cause: ({ target }) =>
      `${target} answered, and an assertion on ${assertionText(first)} failed: ${withFullStop(shortenedToChars(first.error, MAX_SHOWN))}${more} ${likely}`,
    fix: () => fix,
    links,
  };
}

/** `JSON_BODY $.status`, `STATUS_CODE`. */
export function assertionText({ source, property }: FailedAssertion): string {
  return property === '' ? source : `${source} ${quoted(property, 100)}`;
}
