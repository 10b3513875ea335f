import type { AssertionSource } from '../../../../model/check/assertions/assertion.ts';
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

/** The failed assertions, in the order of the check. */
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
const OR_ASSERTION = 'If the response is correct, change the assertion.';

/** What a failed assertion on each source likely means. */
export const SOURCE_CAUSES: Readonly<Record<AssertionSource, SourceRow>> = {
  STATUS_CODE: {
    classification: CONTENT,
    likely:
      'The server answered with another status than the check expects. Likely the application was changed, or the address now redirects.',
    fix: `Check what was changed at the address, and where it redirects. ${OR_ASSERTION}`,
    links: [LINKS.statusCodes],
  },
  HEADERS: {
    classification: CONTENT,
    likely:
      'Likely the application, its framework, or a proxy or CDN in front of it was changed and sets the header differently.',
    fix: `Compare the headers of the result with those of the last run that passed, and find out what sets this one. ${OR_ASSERTION}`,
    links: [LINKS.headerFields],
  },
  JSON_BODY: {
    classification: CONTENT,
    likely:
      'Likely the application returns another value, the structure of its JSON has changed, or the response is an error page instead of JSON.',
    fix: `Compare the body with the JSONPath of the assertion, and look at the last deployment. ${OR_ASSERTION}`,
    links: [LINKS.jsonPath, LINKS.json],
  },
  JSON_SCHEMA: {
    classification: CONTENT,
    likely:
      'Likely the structure of the JSON was changed, a field is missing or has another type, or the response is an error page instead of JSON.',
    fix: `Look at the body of the result at the paths that the error names, and at the last deployment. ${OR_ASSERTION}`,
    links: [LINKS.json],
  },
  IP_ADDRESS: {
    classification: CONTENT,
    likely:
      'Another server answered than the check expects. Likely the name leads elsewhere after a change of its DNS records, a load balancer or a CDN.',
    fix: `Look up the name with "dig" and compare with the servers that should answer. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage],
  },
  HTTP_VERSION: {
    classification: CONTENT,
    likely:
      'The server chose another version of HTTP. Likely the server or a proxy in front of it was changed, or the agent now reaches it through a proxy.',
    fix: `Check which versions the server offers by ALPN ("curl -v"), and what is in front of it. ${OR_ASSERTION}`,
    links: [],
  },
  TEXT_BODY: {
    classification: CONTENT,
    likely:
      'Likely the content was changed, a part of the page is missing, or an error or login page was returned instead.',
    fix: `Look at the body of the result for what was returned instead. ${OR_ASSERTION}`,
    links: [],
  },
  RESPONSE_TIME: {
    classification: 'SLOW_RESPONSE',
    likely: 'The response arrived, but took longer than the assertion allows.',
    fix: 'Look at the phase that took most of the time, below. If this is normal, change the assertion.',
    links: [],
  },
  RESPONSE_DATA: {
    classification: CONTENT,
    likely:
      'The connection was established, but the service sent something else or nothing. Likely it was changed, is not ready, or expects other data first.',
    fix: `Connect with "nc" and compare the received data with the assertion. ${OR_ASSERTION}`,
    links: [],
  },
  RESPONSE_CODE: {
    classification: 'DNS_FAILURE',
    likely: 'The name server answered with another code than the check expects.',
    fix: `Send the same query with "dig" and compare with the zone at the DNS provider. ${OR_ASSERTION}`,
    links: [LINKS.dnsErrors],
  },
  TEXT_ANSWER: {
    classification: 'DNS_FAILURE',
    likely:
      'The name server answered with other records than the check expects. Likely the zone was changed, or a change has not propagated yet.',
    fix: `Compare the answer with the zone at the DNS provider; a change can take as long as the TTL of the old record to propagate. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage],
  },
  JSON_ANSWER: {
    classification: 'DNS_FAILURE',
    likely:
      'The name server answered with other records than the check expects. Likely the zone was changed, or a change has not propagated yet.',
    fix: `Compare the answer with the zone at the DNS provider; a change can take as long as the TTL of the old record to propagate. ${OR_ASSERTION}`,
    links: [LINKS.dnsMessage, LINKS.jsonPath],
  },
  LATENCY: {
    classification: 'SLOW_RESPONSE',
    likely:
      'Echo replies arrived, but with another latency than the assertion allows. Likely a link on the route is congested, or the route has changed.',
    fix: 'Trace the route (mtr) while it happens, and see where the latency increases. If this latency is normal, change the assertion.',
    links: [LINKS.ping],
  },
  JSON_RESPONSE: {
    classification: CONTENT,
    likely: 'The measurements of the ping do not meet the assertion.',
    fix: 'Look at the loss and the latencies in the result. If they are normal, change the assertion.',
    links: [LINKS.ping],
  },
  CERTIFICATE: {
    classification: 'CERTIFICATE_PROBLEM',
    likely:
      'The server presents another certificate, or uses another version of TLS, than the check expects. Likely the certificate was not renewed in time, was replaced, or another server answers.',
    fix: `Compare the certificate of the result with that of the last run that passed, and see what renews it. ${OR_ASSERTION}`,
    links: [],
  },
};

const MAX_SHOWN = 500;

/** The cause of failed assertions: the cause of the first one, which often makes the others fail, too. */
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
