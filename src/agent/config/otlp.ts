import { isSensitiveHeader } from '../../model/credentials/sensitive-headers.ts';
import { readVariable } from '../../runtime/config/read-variable.ts';
import type { Environment } from '../../runtime/config/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../runtime/net/proxy/proxy-variables.ts';
import { type NamedTexts, OTLP_VARIABLES } from './otlp-variables.ts';

/** The configuration of the export by OTLP. */
export interface OtlpConfig {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Names in lower case. */
  readonly headers: NamedTexts;
  /** Resource attributes, `service.name` among them. */
  readonly resource: NamedTexts;
  readonly metricIntervalMs: number;
  readonly traces: boolean;
  readonly proxies: Proxies;
}

const STANDARD_SERVICE_NAME = 'vedette-agent';
/** Shorter values of headers with ordinary names are words, such as the name of a tenant. */
const SHORTEST_KEY_CHARS = 16;

/**
 * @returns null if nothing is exported
 * @throws VedetteError of code CONFIG_CONFLICT for traces without an endpoint, and like
 *   readVariable
 */
export function readOtlp(env: Environment): OtlpConfig | null {
  const endpoint = readVariable(env, OTLP_VARIABLES.otlpEndpoint);
  const traces = readVariable(env, OTLP_VARIABLES.otlpTraces);
  if (endpoint === null) {
    if (!traces) return null;
    throw new VedetteError(
      'config',
      'CONFIG_CONFLICT',
      'OTLP_TRACES is on, but OTEL_EXPORTER_OTLP_ENDPOINT is not set: set it to the URL of the receiver, or unset OTLP_TRACES',
    );
  }
  const resource = readVariable(env, OTLP_VARIABLES.otlpResource);
  const serviceName = readVariable(env, OTLP_VARIABLES.otlpServiceName);
  const name = serviceName ?? resource['service.name'] ?? STANDARD_SERVICE_NAME;
  return {
    endpoint,
    headers: readVariable(env, OTLP_VARIABLES.otlpHeaders),
    resource: { ...resource, 'service.name': name },
    metricIntervalMs: readVariable(env, OTLP_VARIABLES.otlpIntervalMs),
    traces,
    proxies: readProxies(env),
  };
}

/**
 * The credentials in a configuration: of its headers, also without their scheme, and of proxies.
 */
export function secretsOfOtlp({ headers, proxies }: OtlpConfig): readonly string[] {
  const ofHeaders = Object.entries(headers)
    .filter(([name, value]) => isSensitiveHeader(name) || value.length >= SHORTEST_KEY_CHARS)
    .flatMap(([, value]) => [value, value.replace(/^(?:bearer|basic)\s+/i, '')]);
  const ofProxies = [proxies.https, proxies.http].flatMap((proxy) => proxy?.secrets ?? []);
  return [...new Set([...ofHeaders, ...ofProxies])];
}
