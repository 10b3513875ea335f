import { countText } from '../../../runtime/text/count-text.ts';
import { durationText } from '../../../runtime/text/duration-text.ts';
import { quoted, shortenedToChars } from '../../../runtime/text/quoted.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { HttpTargetResponse } from './subject.ts';
import { listText } from './texts.ts';

/** Headers that identify the server and never contain a secret. */
export const DIAGNOSTIC_HEADERS = [
  'server',
  'via',
  'retry-after',
  'allow',
  'content-type',
  'content-length',
  'cache-control',
  'age',
  'x-cache',
  'cf-cache-status',
] as const;

const MAX_REDIRECTS = 10;

/** Sentences about the answer. */
export function responseSentences(result: ReceivedResult): readonly string[] {
  const {
    apiCheckResult: http,
    dnsCheckResult: dns,
    icmpCheckResult: icmp,
    tcpCheckResult,
  } = result;
  if (http?.response) return httpSentences(http.response);
  if (dns?.response) {
    const { responseCode, answer } = dns.response;
    const records = answer.Answer.map(({ type, data }) => `${type} ${shortenedToChars(data, 100)}`);
    return [
      records.length === 0
        ? `The answer was ${responseCode}, without records.`
        : `The answer was ${responseCode}: ${listText(records, 5)}.`,
    ];
  }
  if (icmp?.response) {
    const { packetsSent, packetsReceived, latency, resolvedIp } = icmp.response;
    const times =
      latency.avg === null || latency.max === null
        ? ''
        : `, in ${durationText(latency.avg)} on average and ${durationText(latency.max)} at most`;
    return [
      `${packetsReceived} of ${packetsSent} echo replies arrived from ${resolvedIp}${times}.`,
    ];
  }
  if (!tcpCheckResult?.response) return [];
  const { data, address } = tcpCheckResult.response;
  return [
    data === ''
      ? `${address} accepted the connection and sent nothing.`
      : `${address} sent ${countText(data.length, 'character')}.`,
  ];
}

function httpSentences(response: HttpTargetResponse): readonly string[] {
  const { status, statusText, ip, redirects, bodyBytes } = response;
  const phrase = statusText === '' ? '' : ` ${shortenedToChars(statusText, 100)}`;
  const headers = DIAGNOSTIC_HEADERS.flatMap((name) => {
    const value = response.headers[name];
    return typeof value === 'string' ? [`${name}: ${shortenedToChars(value, 200)}`] : [];
  });
  const sentences = [
    `The answer of ${ip} was ${status}${phrase} with a body of ${countText(bodyBytes, 'byte')}.`,
  ];
  if (headers.length > 0) sentences.push(`Its headers say ${headers.join('; ')}.`);
  if (redirects.length > 0) sentences.push(redirectSentence(redirects));
  return sentences;
}

/** URLs without query and fragment, which may contain secrets. */
function redirectSentence(redirects: HttpTargetResponse['redirects']): string {
  const hops = redirects
    .slice(0, MAX_REDIRECTS)
    .map(({ status, url }) => `${status} to ${quoted(withoutQuery(url), 200)}`);
  return `It followed ${countText(redirects.length, 'redirect')}: ${hops.join(', ')}.`;
}

function withoutQuery(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed === null ? url.replace(/[?#].*$/s, '') : `${parsed.origin}${parsed.pathname}`;
}
