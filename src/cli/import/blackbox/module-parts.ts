import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Draft } from '../common/draft.ts';
import { isTrue, type Reason } from '../common/fields.ts';
import { patternFromGo, wholeMatch } from '../common/patterns.ts';
import type { Probe } from '../common/probe.ts';
import { below, type Origin } from '../common/source-file.ts';

/** The data that the readers of all probers share. */

/** Applies a module of the exporter to one target, or returns why no check is created. */
export type TargetProbe = (target: string) => Omit<Probe, 'timeoutMs'> | { readonly why: string };

/** The context in which a prober reads a module. */
export interface ModuleContext {
  readonly name: string;
  /** The position of the prober's own section. */
  readonly origin: Origin;
  readonly draft: Draft;
}

export type ModuleReader = (section: RawMapping, context: ModuleContext) => TargetProbe | null;

export const SHARED_REASONS: Readonly<Record<string, Reason>> = {
  source_ip_address: [
    'checks choose no source address',
    'run an agent on the host or in the network with that address',
  ],
};

const OWN_CERTIFICATES = 'add an entry to clientCertificates of the file, with cert, key and ca';

const OWN_AUTHORITY = 'name a file of its certificates in NODE_EXTRA_CA_CERTS of the agent';

/** Why fields of `tls_config` are not imported. */
export const TLS_REASONS: Readonly<Record<string, Reason>> = {
  ca_file: ['certificate authorities are not part of checks', OWN_AUTHORITY],
  ca: ['certificate authorities are not part of checks', OWN_AUTHORITY],
  cert_file: ['the client certificate is not read', OWN_CERTIFICATES],
  cert: ['client certificates are not part of checks', OWN_CERTIFICATES],
  key_file: ['the key of the client certificate is not read', OWN_CERTIFICATES],
  key: ['keys of client certificates are not part of checks', OWN_CERTIFICATES],
  server_name: [
    'only TCP and DNS checks choose the name of the certificate',
    'use a URL with that name',
  ],
  min_version: [
    'checks need TLS 1.2 at least',
    'for TLS 1.3 assert that protocol of CERTIFICATE is TLSv1.3',
  ],
  max_version: ['checks never limit the version of TLS', 'assert on protocol of CERTIFICATE'],
};

/** `preferred_ip_protocol` with its fallback: IPv6 first, then IPv4, is what ANY does. */
export function familyOf(section: RawMapping): Probe['ipFamily'] {
  const { preferred_ip_protocol: preferred, ip_protocol_fallback: fallback } = section;
  if (preferred === 'ip4') return 'IPv4';
  return fallback === undefined || isTrue(fallback) ? 'ANY' : 'IPv6';
}

/** Translates a pattern; null, and a line in the report, for syntax that JavaScript does not have. */
export function patternOf(
  text: string,
  path: readonly (string | number)[],
  { origin, draft }: ModuleContext,
): string | null {
  const pattern = patternFromGo(text);
  if (pattern !== null) return wholeMatch(pattern);
  const why = 'the regular expression has no translation to the syntax of assertions, JavaScript';
  draft.report.leftOut(below(origin, ...path), why, 'write the assertion by hand');
  return null;
}
