import { maskHeaders } from '../model/credentials/sensitive-headers.ts';
import { containsNoSecret } from './contains-no-secret.ts';
import { NO_SECRETS, type Scrubber } from './scrubber.ts';

/**
 * Fields of a result that are not scrubbed: values of a closed list, values that the agent makes,
 * and identifiers of results, checks, locations and files. In these fields, a word that equals a
 * secret (`info`, `IPv4`) does not disclose it. Every other text is scrubbed.
 *
 * Does not apply to headers and parameters of requests and responses: checks and targets chose
 * their names.
 */
export const RESULT_FIELDS_KEPT: ReadonlySet<string> = new Set([
  // The result itself.
  'id',
  'checkId',
  'checkType',
  'sequenceId',
  'resultType',
  'runLocation',
  'startedAt',
  'stoppedAt',
  'created_at',
  'errorGroupIds',
  // Details of every type.
  'requestErrorCode',
  'source',
  'comparison',
  'level',
  'jobAssets',
  'pcapDataUrl',
  'ipFamily',
  'outcome',
  // URL and API checks.
  'method',
  'httpVersion',
  'bodyEncoding',
  'protocol',
  'cipher',
  'alpnProtocol',
  'validFrom',
  'validTo',
  'fingerprint256',
  'keyType',
  // Connections of URL, API and TCP checks, and steps of TCP checks.
  'peer',
  'format',
  // DNS checks; `type` is the type of a record.
  'recordType',
  'responseCode',
  'type',
]);

/** Records with field names that a check or a target chose. */
const RECORDS: ReadonlySet<string> = new Set(['headers', 'params']);

/** The fields that scrubbing needs from a result of the agent or one that the service received. */
export interface ResultDetails {
  readonly apiCheckResult: HttpPart | null;
  readonly tcpCheckResult: object | null;
  readonly dnsCheckResult: object | null;
  readonly icmpCheckResult: object | null;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

interface HttpPart {
  readonly request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly params: Readonly<Record<string, string>>;
  };
  readonly response: (ResponsePart & { readonly headers: Headers }) | null;
}

interface ResponsePart {
  readonly body: string | null;
  readonly bodyEncoding: string;
}

/**
 * Masks the secrets in a result's details, and always the values of sensitive headers
 * (src/scrub/README.md, "What is masked, and where"). The name of the check stays, as the API shows
 * it anyway. A binary body that contains a secret is omitted: with a mask it would not be base64.
 * Returns the same object if there is nothing to mask.
 */
export function scrubResult<Result extends ResultDetails>(
  result: Result,
  scrubber: Scrubber,
): Result {
  const { apiCheckResult: http, tcpCheckResult, dnsCheckResult, icmpCheckResult } = result;
  const found = [http, tcpCheckResult, dnsCheckResult, icmpCheckResult];
  const used =
    !scrubber.isIdle && containsNoSecret(found, scrubber, RECORDS) ? NO_SECRETS : scrubber;
  const details: ResultDetails = {
    apiCheckResult: http && scrubHttp(http, used),
    tcpCheckResult: tcpCheckResult && deep(tcpCheckResult, used),
    dnsCheckResult: dnsCheckResult && deep(dnsCheckResult, used),
    icmpCheckResult: icmpCheckResult && deep(icmpCheckResult, used),
  };
  const isSame =
    details.apiCheckResult === http &&
    details.tcpCheckResult === tcpCheckResult &&
    details.dnsCheckResult === dnsCheckResult &&
    details.icmpCheckResult === icmpCheckResult;
  return isSame ? result : { ...result, ...details };
}

function deep<Value>(value: Value, scrubber: Scrubber): Value {
  return scrubber.isIdle ? value : (texts(value, scrubber) as Value);
}

/** Scrubs all texts, but not field names: the model defines them. */
function texts(value: unknown, scrubber: Scrubber): unknown {
  if (typeof value === 'string') return scrubber.text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => texts(item, scrubber));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  let scrubbed: Record<string, unknown> | null = null;
  for (const [name, inner] of Object.entries(value)) {
    if (RESULT_FIELDS_KEPT.has(name) || RECORDS.has(name)) continue;
    const own = texts(inner, scrubber);
    if (own === inner) continue;
    scrubbed ??= { ...value };
    scrubbed[name] = own;
  }
  return scrubbed ?? value;
}

function scrubHttp(given: HttpPart, scrubber: Scrubber): HttpPart {
  const detail = withoutUnreadable(deep(given, scrubber), given);
  const { request, response } = detail;
  const scrubbedRequest = withScrubbed(request, {
    headers: scrubHeaders(request.headers, scrubber),
    params: scrubRecord(request.params, scrubber),
  });
  const scrubbedResponse =
    response && withScrubbed(response, { headers: scrubHeaders(response.headers, scrubber) });
  return withScrubbed(detail, { request: scrubbedRequest, response: scrubbedResponse });
}

/** Replaces the given parts; the same object if they are the same. */
function withScrubbed<Whole extends object>(whole: Whole, parts: Partial<Whole>): Whole {
  const names = Object.keys(parts) as (keyof Whole)[];
  return names.every((name) => parts[name] === whole[name]) ? whole : { ...whole, ...parts };
}

function withoutUnreadable(detail: HttpPart, given: HttpPart): HttpPart {
  const { response } = detail;
  if (response?.bodyEncoding !== 'base64' || response.body === given.response?.body) return detail;
  return { ...detail, response: { ...response, body: null, bodyEncoding: 'omitted' } };
}

function scrubRecord<Given extends Headers>(record: Given, scrubber: Scrubber): Given {
  return scrubber.isIdle ? record : scrubber.deep(record);
}

function scrubHeaders<Given extends Headers>(headers: Given, scrubber: Scrubber): Given {
  return scrubRecord(maskHeaders(headers), scrubber);
}
