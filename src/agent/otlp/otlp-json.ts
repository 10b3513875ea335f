/**
 * The JSON encoding of OTLP (opentelemetry-proto, "JSON Protobuf Encoding"): ids are hexadecimal,
 * enums numbers, and 64-bit numbers decimal texts.
 */

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

interface Resource {
  readonly attributes: readonly KeyValue[];
}

interface Scope {
  readonly name: string;
  readonly version: string;
}

/** The part of every request that identifies the exporting agent. */
export interface Sender {
  readonly resource: Resource;
  readonly scope: Scope;
}

export interface NumberDataPoint {
  readonly attributes: readonly KeyValue[];
  readonly timeUnixNano: string;
  readonly asDouble: number;
}

export interface Metric {
  readonly name: string;
  readonly description: string;
  /** UCUM. */
  readonly unit?: string;
  readonly gauge: { readonly dataPoints: readonly NumberDataPoint[] };
}

/** SpanKind of trace.proto. */
export const SPAN_KINDS = { INTERNAL: 1, CLIENT: 3 } as const;
/** StatusCode of trace.proto. */
export const STATUS_CODES = { UNSET: 0, ERROR: 2 } as const;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: (typeof SPAN_KINDS)[keyof typeof SPAN_KINDS];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: {
    readonly code: (typeof STATUS_CODES)[keyof typeof STATUS_CODES];
    readonly message?: string;
  };
}

/** Attributes with texts and whole numbers; null values are omitted. */
export function attributesOf(
  values: Readonly<Record<string, string | number | null>>,
): readonly KeyValue[] {
  return Object.entries(values).flatMap(([key, value]): KeyValue[] => {
    if (value === null) return [];
    // Half of a surrogate pair is not valid text in protobuf.
    if (typeof value === 'string') return [{ key, value: { stringValue: value.toWellFormed() } }];
    return [{ key, value: { intValue: String(Math.round(value)) } }];
  });
}

/** Nanoseconds since the epoch, exact to a microsecond. */
export function unixNano(epochMs: number): string {
  return String(BigInt(Math.round(epochMs * 1000)) * 1000n);
}

export function metricsRequest({ resource, scope }: Sender, metrics: readonly Metric[]) {
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
}

export function tracesRequest({ resource, scope }: Sender, spans: readonly Span[]) {
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] };
}

/** Fields that the agent itself writes: masking a secret that is a number must not change them. */
export const OWN_TEXTS: ReadonlySet<string> = new Set([
  'key',
  'traceId',
  'spanId',
  'parentSpanId',
  'intValue',
  'timeUnixNano',
  'startTimeUnixNano',
  'endTimeUnixNano',
]);
