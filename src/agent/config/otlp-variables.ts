import { HEADER_NAME, isHeaderValue } from '../../model/check/request/http.ts';
import { baseUrl, onOrOff, type Parsed, wholeNumber } from '../../runtime/config/parsers.ts';
import type { Variable } from '../../runtime/config/variable.ts';
import { percentDecoded } from '../../runtime/text/percent-decoded.ts';

/** Names with their values. */
export type NamedTexts = Readonly<Record<string, string>>;

const MAX_PAIRS = 64;
const MAX_INTERVAL_MS = 3_600_000;
/** Headers that requests already have, or that concern a connection: the client throws for some. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

const variable = <Value>(row: Variable<Value>): Variable<Value> => row;

/**
 * Export by OTLP: src/agent/README.md, "Export by OTLP". Names that begin with OTEL are those of
 * the OpenTelemetry specification ("Environment Variable Specification", "OpenTelemetry Protocol
 * Exporter").
 */
export const OTLP_VARIABLES = {
  otlpEndpoint: variable<string | null>({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: null,
    whenUnset: null,
    meaning:
      'Where metrics of checks are exported by OTLP over HTTP, to /v1/metrics below it. Unset, nothing is exported.',
    allowed:
      'an http or https URL without credentials, query or fragment, for example http://collector:4318',
    secret: false,
    parse: baseUrl,
  }),
  otlpHeaders: variable<NamedTexts>({
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    default: null,
    whenUnset: {},
    meaning: 'Headers of the requests of the export, for example with a key.',
    allowed: `at most ${MAX_PAIRS} name=value, separated by commas, with percent-encoded values, for example authorization=Bearer%20abc`,
    secret: true,
    parse: headers,
  }),
  otlpServiceName: variable<string | null>({
    name: 'OTEL_SERVICE_NAME',
    default: null,
    whenUnset: null,
    meaning:
      'The resource attribute service.name of the export. If not set, that of OTEL_RESOURCE_ATTRIBUTES; without one, vedette-agent.',
    allowed: 'a text',
    secret: false,
    parse: (text) => ({ ok: true, value: text }),
  }),
  otlpResource: variable<NamedTexts>({
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    default: null,
    whenUnset: {},
    meaning: 'Further resource attributes of the export.',
    allowed: `at most ${MAX_PAIRS} name=value, separated by commas, with percent-encoded values, for example deployment.environment.name=production`,
    secret: false,
    parse: pairs,
  }),
  otlpIntervalMs: variable<number>({
    name: 'OTEL_METRIC_EXPORT_INTERVAL',
    default: '60000',
    whenUnset: 60_000,
    meaning: 'Milliseconds from one export of metrics to the next.',
    allowed: `a whole number of milliseconds from 1000 to ${MAX_INTERVAL_MS}`,
    secret: false,
    parse: wholeNumber(1_000, MAX_INTERVAL_MS),
  }),
  otlpTraces: variable<boolean>({
    name: 'OTLP_TRACES',
    default: 'off',
    whenUnset: false,
    meaning:
      'Whether each run is also exported as a span with its phases, to /v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT.',
    allowed: 'on or off',
    secret: false,
    parse: onOrOff,
  }),
} as const;

function pairs(text: string): Parsed<NamedTexts> {
  const entries = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const found = new Map<string, string>();
  for (const entry of entries) {
    const at = entry.indexOf('=');
    if (at < 1) return { ok: false, culprit: entry };
    found.set(entry.slice(0, at).trim(), percentDecoded(entry.slice(at + 1).trim()));
  }
  if (entries.length > MAX_PAIRS) return { ok: false, culprit: text };
  return { ok: true, value: Object.fromEntries(found) };
}

/** Names in lower case. */
function headers(text: string): Parsed<NamedTexts> {
  const parsed = pairs(text);
  if (!parsed.ok) return parsed;
  const entries = Object.entries(parsed.value).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const wrong = entries.find(
    ([name, value]) => !HEADER_NAME.test(name) || OWN_HEADERS.has(name) || !isHeaderValue(value),
  );
  if (wrong !== undefined) return { ok: false, culprit: wrong[0] };
  return { ok: true, value: Object.fromEntries(entries) };
}
