import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

/**
 * A receiver of OTLP over HTTP. It parses the messages of opentelemetry-proto 1.x (metrics.proto,
 * trace.proto, common.proto) in their JSON encoding, and refuses fields that they do not have: ids
 * are hexadecimal, enums numbers, and 64-bit integers decimal texts.
 */

const uint64 = z.string().regex(/^\d{1,20}$/);
const nonZeroHex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));

const keyValue = z.strictObject({
  key: z.string().min(1),
  value: z.union([
    z.strictObject({ stringValue: z.string() }),
    z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
    z.strictObject({ doubleValue: z.number() }),
    z.strictObject({ boolValue: z.boolean() }),
  ]),
});
const attributes = z.array(keyValue).superRefine((list, context) => {
  const keys = list.map(({ key }) => key);
  if (new Set(keys).size < keys.length) {
    context.addIssue({ code: 'custom', message: 'keys must be unique' });
  }
});
const resource = z.strictObject({ attributes });
const scope = z.strictObject({ name: z.string(), version: z.string() });

const dataPoint = z.strictObject({ attributes, timeUnixNano: uint64, asDouble: z.number() });
const metric = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  unit: z.string().optional(),
  gauge: z.strictObject({ dataPoints: z.array(dataPoint).min(1) }),
});
const metricsRequest = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource,
      scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })),
    }),
  ),
});

const span = z
  .strictObject({
    traceId: nonZeroHex(32),
    spanId: nonZeroHex(16),
    parentSpanId: nonZeroHex(16).optional(),
    name: z.string().min(1),
    /** SPAN_KIND_UNSPECIFIED to SPAN_KIND_CONSUMER. */
    kind: z.int().min(0).max(5),
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes,
    status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  })
  .refine(({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(end) >= BigInt(start), {
    message: 'must not end before it starts',
  });
const tracesRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span).min(1) })),
    }),
  ),
});

type Attributes = Readonly<Record<string, string | number>>;

export interface ReceivedPoint {
  readonly metric: string;
  readonly unit: string | null;
  readonly attributes: Attributes;
  readonly epochMs: number;
  readonly value: number;
}

export interface ReceivedSpan extends Omit<z.infer<typeof span>, 'attributes'> {
  readonly attributes: Attributes;
}

/** The response to a request. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly points: readonly ReceivedPoint[];
  readonly spans: readonly ReceivedSpan[];
  /** The resource of the last accepted request. */
  readonly resource: Attributes;
  /** Each request, accepted or not. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** The faults of requests: a test expects none. */
  readonly faults: readonly string[];
  /** The answers to the next requests; then 200. */
  readonly answers: ReceiverAnswer[];
  /** Whether requests get no answer. */
  holds: boolean;
  /** The requests as text, in the order of their arrival. */
  readonly texts: readonly string[];
  close(): Promise<void>;
}

export async function listenOtlp(): Promise<OtlpReceiver> {
  const points: ReceivedPoint[] = [];
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver['requests'][number][] = [];
  const faults: string[] = [];
  const answers: ReceiverAnswer[] = [];
  const texts: string[] = [];
  let resourceOf: Attributes = {};

  const take = (path: string, body: unknown): void => {
    if (path === '/v1/metrics') {
      const { resourceMetrics } = metricsRequest.parse(body);
      for (const { resource: from, scopeMetrics } of resourceMetrics) {
        resourceOf = valuesOf(from.attributes);
        for (const { name, unit, gauge } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
          for (const { attributes: labels, timeUnixNano, asDouble } of gauge.dataPoints) {
            const epochMs = Number(BigInt(timeUnixNano) / 1_000_000n);
            points.push({
              ...{ metric: name, unit: unit ?? null, attributes: valuesOf(labels) },
              ...{ epochMs, value: asDouble },
            });
          }
        }
      }
    } else if (path === '/v1/traces') {
      const { resourceSpans } = tracesRequest.parse(body);
      for (const { resource: from, scopeSpans } of resourceSpans) {
        resourceOf = valuesOf(from.attributes);
        for (const each of scopeSpans.flatMap(({ spans: all }) => all)) {
          spans.push({ ...each, attributes: valuesOf(each.attributes) });
        }
      }
    } else {
      faults.push(`a request for ${path}`);
    }
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      requests.push({ path, headers: request.headers });
      if (receiver.holds) return;
      const answer = answers.shift() ?? { status: 200 };
      const packed = Buffer.concat(chunks);
      try {
        if (request.method !== 'POST') faults.push(`the method ${request.method}`);
        if (request.headers['content-type'] !== 'application/json') faults.push('the content type');
        const isPacked = request.headers['content-encoding'] === 'gzip';
        const text = (isPacked ? gunzipSync(packed) : packed).toString('utf8');
        texts.push(text);
        if (answer.status === 200) take(path, JSON.parse(text));
      } catch (error) {
        faults.push(String(error));
      }
      const headers = { 'content-type': 'application/json', ...answer.headers };
      response.writeHead(answer.status, headers).end(answer.body ?? '{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    points,
    spans,
    get resource() {
      return resourceOf;
    },
    requests,
    faults,
    answers,
    holds: false,
    texts,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

function valuesOf(list: z.infer<typeof attributes>): Attributes {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      if ('stringValue' in value) return [key, value.stringValue];
      if ('intValue' in value) return [key, Number(value.intValue)];
      return [key, 'doubleValue' in value ? value.doubleValue : String(value.boolValue)];
    }),
  );
}
