/**
 * Every `requestErrorCode`, by the phase in which the attempt ended: what it means and what to
 * look at. The README's table is held to this list by a test.
 */
export const ERROR_CODES = {
  DNS_NXDOMAIN: { phase: 'dns', meaning: 'The name does not exist.' },
  DNS_NO_ADDRESS: {
    phase: 'dns',
    meaning: 'The name exists but has no address of the family asked for.',
  },
  DNS_SERVFAIL: { phase: 'dns', meaning: 'The name server answered SERVFAIL.' },
  DNS_REFUSED: { phase: 'dns', meaning: 'The name server answered REFUSED.' },
  DNS_ERROR: { phase: 'dns', meaning: 'The name server answered with another error code.' },
  DNS_TIMEOUT: { phase: 'dns', meaning: 'No name server answered in time.' },
  DNS_UNREACHABLE: { phase: 'dns', meaning: 'No name server could be reached.' },
  DNS_MALFORMED: {
    phase: 'dns',
    meaning: 'The name server answered with bytes that are no DNS message.',
  },
  ADDRESS_DENIED: {
    phase: 'connect',
    meaning: 'The address is in a network that TARGET_DENY shuts out.',
  },
  CONNECT_REFUSED: {
    phase: 'connect',
    meaning: 'The host answered that nothing listens on the port.',
  },
  CONNECT_TIMEOUT: { phase: 'connect', meaning: 'The connection was not established in time.' },
  CONNECT_UNREACHABLE: { phase: 'connect', meaning: 'There is no route to the host or network.' },
  CONNECT_RESET: {
    phase: 'connect',
    meaning: 'The connection was reset while it was being established.',
  },
  CONNECT_FAILED: {
    phase: 'connect',
    meaning: 'The operating system refused the connection for another reason.',
  },
  TLS_CERT_EXPIRED: { phase: 'tls', meaning: 'A certificate of the chain is past its validity.' },
  TLS_CERT_NOT_YET_VALID: { phase: 'tls', meaning: 'A certificate of the chain is not valid yet.' },
  TLS_HOSTNAME_MISMATCH: { phase: 'tls', meaning: 'The certificate is for other names.' },
  TLS_SELF_SIGNED: {
    phase: 'tls',
    meaning: 'The certificate, or the root it leads to, is self-signed and not trusted.',
  },
  TLS_UNTRUSTED: {
    phase: 'tls',
    meaning: 'The chain does not lead to a trusted root; an intermediate may be missing.',
  },
  TLS_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The certificate fails verification for another reason.',
  },
  TLS_PROTOCOL_UNSUPPORTED: {
    phase: 'tls',
    meaning: 'The server speaks no TLS version that is still safe (1.2 or 1.3).',
  },
  TLS_CLIENT_CERT_REJECTED: {
    phase: 'tls',
    meaning: 'The server wants a client certificate, or refused the one it got.',
  },
  TLS_HANDSHAKE_FAILED: {
    phase: 'tls',
    meaning: 'The handshake failed, for example for lack of a common cipher.',
  },
  TLS_TIMEOUT: { phase: 'tls', meaning: 'The handshake was not finished in time.' },
  TLS_RESET: { phase: 'tls', meaning: 'The connection was closed or reset during the handshake.' },
  CLIENT_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The client certificate or key configured for the host cannot be used.',
  },
  RESPONSE_TIMEOUT: {
    phase: 'response',
    meaning: 'No complete response headers, or no echo reply data, came in time.',
  },
  CONNECTION_RESET: {
    phase: 'response',
    meaning: 'The connection was reset after the request was sent.',
  },
  CONNECTION_CLOSED: {
    phase: 'response',
    meaning: 'The connection was closed before a response came.',
  },
  PROTOCOL_ERROR: { phase: 'response', meaning: 'The response breaks the rules of its protocol.' },
  HEADERS_TOO_LARGE: { phase: 'response', meaning: 'The response headers are larger than 64 KiB.' },
  TOO_MANY_REDIRECTS: {
    phase: 'response',
    meaning: 'More than 10 redirects were answered in a row.',
  },
  REDIRECT_INVALID: {
    phase: 'response',
    meaning: 'A redirect names no address that can be followed.',
  },
  BODY_TIMEOUT: { phase: 'body', meaning: 'The response body was not complete in time.' },
  BODY_TRUNCATED: { phase: 'body', meaning: 'The connection ended before the whole body came.' },
  BODY_DECODE_FAILED: { phase: 'body', meaning: 'The body is not what its Content-Encoding says.' },
  ICMP_NO_REPLY: { phase: 'icmp', meaning: 'No echo request was answered.' },
  ICMP_UNREACHABLE: {
    phase: 'icmp',
    meaning: 'A router or the host answered that it cannot be reached.',
  },
  ICMP_NOT_PERMITTED: {
    phase: 'icmp',
    meaning: 'The agent may not open an ICMP socket; the message says how to allow it.',
  },
  CANCELLED: { phase: 'agent', meaning: 'The run was cut short because the agent stopped.' },
  INTERNAL_ERROR: { phase: 'agent', meaning: "A fault of the agent's own; never the target's." },
} as const satisfies Record<string, { phase: string; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Codes that are the system's own fault: they set `hasErrors`, never an outage of the target. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set(['ICMP_NOT_PERMITTED', 'INTERNAL_ERROR']);

export function isOwnFault(code: ErrorCode): boolean {
  return OWN_FAULTS.has(code);
}

/** Why an attempt ended without the answer it wanted: a value, never thrown. */
export interface Failure {
  readonly code: ErrorCode;
  /** A sentence for people that names the target, what happened and how long it took. */
  readonly message: string;
}
