import { isSensitiveHeader, MASK } from '../model/credentials/sensitive-headers.ts';
import { containsNoSecret } from './contains-no-secret.ts';
import { NO_SECRETS, type Scrubber } from './scrubber.ts';

/**
 * Fields of a result that stay as they are: those whose words are from a closed list, those that we
 * make ourselves, and those that say which result, check, location or file it is. A secret that
 * happens to be such a word (`info`, `IPv4`) is none there. Every other text is scrubbed.
 *
 * Not in headers and parameters of requests and responses, whose names are of others' choosing.
 */
export const RESULT_FIELDS_KEPT: ReadonlySet<string> = new Set([
  // Of the result itself.
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
  // Of every type's details.
  'requestErrorCode',
  'source',
  'comparison',
  'level',
  'jobAssets',
  'pcapDataUrl',
  'ipFamily',
  // Of URL and API checks.
  'method',
  'httpVersion',
  'bodyEncoding',
  'protocol',
  'cipher',
  'alpnProtocol',
  'validFrom',
  'validTo',
  'fingerprint256',
  // Of the connections of those and of TCP checks.
  'peer',
  // Of DNS checks; `type` is that of a record.
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
 * The result with the secrets taken out of its details, and with no value of Authorization, Cookie
 * and the like, whatever the scrubber knows (src/scrub/README.md, "What is masked, and where"). The
 * name of the check stays, as the API shows it anyway. A binary body that holds a secret is left
 * out: with a mask inside it would not be base64. The same object comes back where there is nothing
 * to take out; it costs little then.
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

/** Scrubs all texts, but not the field names: the model defines them. */
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

/** With the parts in place of those that it has; the same object where they are those. */
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
  return scrubRecord(maskSensitive(headers), scrubber);
}

/** Like `maskHeaders`, at hardly any cost where all is masked already, as it is nearly always. */
function maskSensitive<Given extends Headers>(headers: Given): Given {
  let bare = false;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !isMasked(value) && isSensitive(name)) bare = true;
  }
  if (!bare) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!isSensitive(name)) return [name, value];
      return [name, typeof value === 'string' ? MASK : value.map(() => MASK)];
    }),
  ) as Given;
}

function isMasked(value: string | readonly string[]): boolean {
  return typeof value === 'string' ? value === MASK : value.every((one) => one === MASK);
}

const MAX_KNOWN_NAMES = 1000;
const MAX_KNOWN_CHARS = 100;
/** The same few names come with every result, and to judge one takes longer than to look it up. */
const knownNames = new Map<string, boolean>();

function isSensitive(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const judged = isSensitiveHeader(name);
  if (name.length <= MAX_KNOWN_CHARS && knownNames.size < MAX_KNOWN_NAMES) {
    knownNames.set(name, judged);
  }
  return judged;
}
