import {
  type PreparedRequest,
  prepareRequest,
} from '../../../src/agent/probes/http/prepare-request.ts';
import { type HttpOutcome, probeHttp } from '../../../src/agent/probes/http/probe.ts';
import type { ProbeContext } from '../../../src/agent/probes/probe.ts';
import type { ClientCertificate } from '../../../src/model/check/client-certificate.ts';
import { apiRequestSchema } from '../../../src/model/check/request/http.ts';
import { makeContext } from '../agent/probe-context.ts';

/** An API check's request, with its schema's defaults. */
export function preparedRequest(url: string, fields: object = {}): PreparedRequest {
  return prepareRequest(apiRequestSchema.parse({ url, ...fields }));
}

export interface ProbeOptions {
  /** Fields of the request. */
  readonly request?: object;
  readonly context?: ProbeContext;
  readonly keepBody?: boolean;
  readonly clientCertificates?: readonly ClientCertificate[];
  readonly proxyUrl?: string;
}

/** One attempt of an API check on the url. */
export function probe(url: string, options: ProbeOptions = {}): Promise<HttpOutcome> {
  const { request = {}, context = makeContext(), keepBody = true } = options;
  const clientCertificates = options.clientCertificates ?? [];
  return probeHttp(preparedRequest(url, request), context, {
    clientCertificates,
    proxyUrl: options.proxyUrl ?? null,
    keepBody,
    room: null,
  });
}
