/**
 * Every `requestErrorCode`, by the phase in which the attempt ended: what it means, and what to try
 * first, which the job log says. The README's table is held to this list by a test.
 */
export const ERROR_CODES = {
  VARIABLE_UNKNOWN: {
    phase: 'request',
    meaning: 'A template names a variable that neither the check, the agent nor the account has.',
    advice:
      'Define the variable: in the account, in the check, or on the agent by VARIABLES_FROM_ENV or VARIABLES_DIR. A secret one of the account that is there may be one that the service cannot decrypt, which its log says.',
  },
  CREDENTIAL_NOT_READABLE: {
    phase: 'request',
    meaning:
      'The service cannot decrypt a credential or a secret variable of the check, or a credential of the proxy of its location, as none of its keys is the one that encrypted it. Nothing was sent.',
    advice:
      'Put the key that encrypted it behind the others in ENCRYPTION_KEY of the service and restart it, or give it to the check or the location again.',
  },
  VARIABLE_DENIED: {
    phase: 'request',
    meaning: 'VARIABLE_TARGETS of the agent does not allow a variable of its own to be sent there.',
    advice:
      'If the target is to get the value, add NAME@host:port to VARIABLE_TARGETS of the agent; else correct the target or the redirect that leads to it.',
  },
  REQUEST_INVALID: {
    phase: 'request',
    meaning: 'With its templates filled in, the request is none that could be sent.',
    advice:
      'Look at the value of the variable that the message names: a line break at its end is the most common fault.',
  },
  DNS_NXDOMAIN: {
    phase: 'dns',
    meaning: 'The name does not exist.',
    advice: 'Look for a slip in the name; ask the name servers of the job log for it: dig NAME.',
  },
  DNS_NO_ADDRESS: {
    phase: 'dns',
    meaning: 'The name exists but has no address of the family asked for.',
    advice: 'Give the name an address of that family, or set ipFamily to the other one.',
  },
  DNS_SERVFAIL: {
    phase: 'dns',
    meaning: 'The name server answered SERVFAIL.',
    advice: 'Look at the name servers of the zone, and at DNSSEC: dig +trace NAME, dig +cd NAME.',
  },
  DNS_REFUSED: {
    phase: 'dns',
    meaning: 'The name server answered REFUSED.',
    advice:
      'See that the name server answers for the network of the agent (its access list, its views).',
  },
  DNS_ERROR: {
    phase: 'dns',
    meaning: 'The name server answered with another error code.',
    advice:
      'Look up the code that the message names, and ask the same server by dig from the host of the agent; where it names none, correct the name.',
  },
  DNS_TIMEOUT: {
    phase: 'dns',
    meaning: 'No name server answered in time.',
    advice:
      'See whether the name server runs, and whether UDP and TCP to its port (mostly 53) are open from the agent; a trace shows the hop where it ends.',
  },
  DNS_UNREACHABLE: {
    phase: 'dns',
    meaning: 'No name server could be reached.',
    advice:
      'See that the addresses in resolv.conf, or nameServer of the check, are right, that a name server listens there, and that there is a route to them.',
  },
  DNS_MALFORMED: {
    phase: 'dns',
    meaning:
      'The name server answered with bytes that are no DNS message, or on and on with messages that answer something else.',
    advice:
      'See what listens on that port: it is no DNS server, or a device in between changes its answers.',
  },
  ADDRESS_DENIED: {
    phase: 'connect',
    meaning: 'The address is in a network that TARGET_DENY shuts out.',
    advice:
      'If the target is to be reached, take its network out of TARGET_DENY of the agent; else correct the name or address.',
  },
  CONNECT_REFUSED: {
    phase: 'connect',
    meaning: 'The host answered that nothing listens on the port.',
    advice:
      'See that the service runs and listens on this address and port, and that no firewall refuses it.',
  },
  CONNECT_TIMEOUT: {
    phase: 'connect',
    meaning: 'The connection was not established in time.',
    advice:
      'See whether a firewall or security group drops the packets, and whether the host is up; a trace shows the hop where it ends.',
  },
  CONNECT_UNREACHABLE: {
    phase: 'connect',
    meaning: 'There is no route to the host or network.',
    advice:
      'See whether the host is up: in the own network of the agent that is the usual cause. Else look at the routes of the host of the agent, and at the router or firewall that a trace ends with.',
  },
  CONNECT_RESET: {
    phase: 'connect',
    meaning: 'The connection was reset while it was being established.',
    advice:
      'Something on the way or the host itself cuts connections: look at its firewall, its limits, a load balancer without a healthy member.',
  },
  CONNECT_FAILED: {
    phase: 'connect',
    meaning: 'The operating system refused the connection for another reason.',
    advice:
      'The message has the error of the operating system: look at limits of files and ports, and at the firewall, on the host of the agent.',
  },
  PROXY_UNREACHABLE: {
    phase: 'proxy',
    meaning: 'No connection to the proxy of the location came about.',
    advice: 'See that proxyUrl of the location is right and that the agent may reach the proxy.',
  },
  PROXY_AUTH_REQUIRED: {
    phase: 'proxy',
    meaning: 'The proxy of the location wants credentials, or others.',
    advice:
      'Put the credentials of the proxy into proxyUrl of the location: http://user:password@proxy:3128.',
  },
  PROXY_REFUSED: {
    phase: 'proxy',
    meaning: 'The proxy of the location answered that it does not connect to the target.',
    advice:
      'See that the rules of the proxy allow the target and its port; its log has the reason.',
  },
  TLS_CERT_EXPIRED: {
    phase: 'tls',
    meaning: 'A certificate of the chain is past its validity.',
    advice:
      'Renew the certificate that the result shows, with its chain, and have the server load it.',
  },
  TLS_CERT_NOT_YET_VALID: {
    phase: 'tls',
    meaning: 'A certificate of the chain is not valid yet.',
    advice:
      'Compare the clocks of the server and of the host of the agent with the dates in the result.',
  },
  TLS_HOSTNAME_MISMATCH: {
    phase: 'tls',
    meaning: 'The certificate is for other names.',
    advice:
      'Give the server a certificate that has this name, or call it by one of the names in the result.',
  },
  TLS_SELF_SIGNED: {
    phase: 'tls',
    meaning: 'The certificate, or the root it leads to, is self-signed and not trusted.',
    advice:
      'Name a file with its root in NODE_EXTRA_CA_CERTS of the agent, or use a certificate of a trusted authority; skipSSL takes any.',
  },
  TLS_UNTRUSTED: {
    phase: 'tls',
    meaning: 'The chain does not lead to a trusted root; an intermediate may be missing.',
    advice:
      'Have the server send its intermediate certificates, or name a file with its root in NODE_EXTRA_CA_CERTS of the agent.',
  },
  TLS_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The certificate fails verification for another reason.',
    advice: 'The message says what is wrong with the certificate: issue it anew.',
  },
  TLS_PROTOCOL_UNSUPPORTED: {
    phase: 'tls',
    meaning: 'The server speaks no TLS version that is still safe (1.2 or 1.3).',
    advice: 'Switch on TLS 1.2 or 1.3 on the server.',
  },
  TLS_CLIENT_CERT_REJECTED: {
    phase: 'tls',
    meaning: 'The server wants a client certificate, or refused the one it got.',
    advice: 'Give the account a client certificate for this host, or renew the one that it has.',
  },
  TLS_HANDSHAKE_FAILED: {
    phase: 'tls',
    meaning: 'The handshake failed, for example for lack of a common cipher.',
    advice:
      'Compare the versions and ciphers of the server with: openssl s_client -connect HOST:PORT.',
  },
  TLS_TIMEOUT: {
    phase: 'tls',
    meaning: 'The handshake was not finished in time.',
    advice:
      'The port is open, and nothing answers in TLS: see whether the server is overloaded, or speaks another protocol there.',
  },
  TLS_RESET: {
    phase: 'tls',
    meaning: 'The connection was closed or reset during the handshake.',
    advice:
      'See whether the server speaks TLS on this port and knows this host name (SNI), and whether a device in between cuts it.',
  },
  CLIENT_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The client certificate or key configured for the host cannot be used.',
    advice: 'See that certificate, key and passphrase belong together.',
  },
  RESPONSE_TIMEOUT: {
    phase: 'response',
    meaning: 'No complete response headers, or no echo reply data, came in time.',
    advice:
      'The connection stands, and no answer comes: look at the load and the log of the service.',
  },
  CONNECTION_RESET: {
    phase: 'response',
    meaning: 'The connection was reset after the request was sent.',
    advice:
      'Look at the log of the service for a crash or a restart, and at time-outs of load balancers before it.',
  },
  CONNECTION_CLOSED: {
    phase: 'response',
    meaning: 'The connection was closed before a response came.',
    advice: 'Look at the log of the service: it hung up before it answered.',
  },
  PROTOCOL_ERROR: {
    phase: 'response',
    meaning: 'The response breaks the rules of its protocol.',
    advice: 'See what listens on this port, and whether http and https are mixed up.',
  },
  HEADERS_TOO_LARGE: {
    phase: 'response',
    meaning: 'The response headers are larger than 64 KiB.',
    advice: 'Have the service send fewer or shorter headers; cookies are the most common cause.',
  },
  RESPONSE_FLOOD: {
    phase: 'response',
    meaning:
      'The response brings next to no content for what it makes the agent read: more than 2 MiB of framing (128 bytes more for each byte of body, 16 MiB at most), or over 500,000 pieces.',
    advice:
      'See with curl -v --raw what the service sends: chunk extensions, HTTP/2 control frames or TLS messages without end, or a body byte by byte.',
  },
  TOO_MANY_REDIRECTS: {
    phase: 'response',
    meaning: 'More than 10 redirects were answered in a row.',
    advice:
      'Follow the redirects of the job log: often two of them lead to each other, or wait for a cookie that a check does not keep.',
  },
  REDIRECT_INVALID: {
    phase: 'response',
    meaning: 'A redirect names no address that can be followed.',
    advice: 'Correct the Location header that the service sends.',
  },
  BODY_TIMEOUT: {
    phase: 'body',
    meaning: 'The response body was not complete in time.',
    advice: 'The answer began and did not end: look at what makes the body, and at its size.',
  },
  BODY_TRUNCATED: {
    phase: 'body',
    meaning: 'The connection ended before the whole body came.',
    advice: 'Look at the log of the service, or of a proxy before it, for what ended the answer.',
  },
  BODY_DECODE_FAILED: {
    phase: 'body',
    meaning: 'The body is not what its Content-Encoding says.',
    advice:
      'Have the service say the Content-Encoding that it uses; a cache may have changed one of the two.',
  },
  ICMP_NO_REPLY: {
    phase: 'icmp',
    meaning: 'No echo request was answered.',
    advice:
      'See whether the host is up and whether a firewall drops echo requests; a trace shows the hop where it ends.',
  },
  ICMP_UNREACHABLE: {
    phase: 'icmp',
    meaning: 'A router or the host answered that it cannot be reached.',
    advice: 'Look at the router that the message names: it has no route, or forbids the way.',
  },
  ICMP_NOT_PERMITTED: {
    phase: 'icmp',
    meaning: 'The agent may not open an ICMP socket; the message says how to allow it.',
    advice: 'Set net.ipv4.ping_group_range, or give the agent CAP_NET_RAW.',
  },
  CANCELLED: {
    phase: 'agent',
    meaning: 'The run was cut short because the agent stopped.',
    advice: 'Nothing: the run counts as missed.',
  },
  INTERNAL_ERROR: {
    phase: 'agent',
    meaning: "A fault of the agent's own; never the target's.",
    advice: 'Report it, with the job log and the log of the agent.',
  },
} as const satisfies Record<string, { phase: string; meaning: string; advice: string }>;

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
