/**
 * Every `requestErrorCode`: the phase in which the attempt ended, its meaning, and what to try
 * first, which the job log shows. A test compares the table of the README with this list.
 */
export const ERROR_CODES = {
  VARIABLE_UNKNOWN: {
    phase: 'request',
    meaning: 'A template names a variable that neither the check, the agent nor the account has.',
    advice:
      'Define the variable in the account, in the check, or on the agent by VARIABLES_FROM_ENV or VARIABLES_DIR; for `vedette run`, in a file that --env-file names.',
  },
  CREDENTIAL_NOT_READABLE: {
    phase: 'request',
    meaning:
      'The service cannot decrypt a credential or a secret variable of the check, a secret variable of the account, or a credential of the proxy of the location, because it lacks the key that encrypted it. Nothing was sent.',
    advice:
      'Add the key that encrypted it after the others in ENCRYPTION_KEY of the service and restart the service, or set the credential or variable again.',
  },
  VARIABLE_DENIED: {
    phase: 'request',
    meaning:
      'VARIABLE_TARGETS of the agent does not allow one of its own variables to be sent to this target.',
    advice:
      'If the target should receive the value, add NAME@host:port to VARIABLE_TARGETS of the agent; otherwise correct the target or the redirect that leads to it.',
  },
  REQUEST_INVALID: {
    phase: 'request',
    meaning: 'The request cannot be sent with its templates filled in.',
    advice:
      'Check the value of the variable that the message names: the most common fault is a line break at its end.',
  },
  SCRIPT_FAILED: {
    phase: 'request',
    meaning:
      'A setup or teardown script threw an error, waited for something that never happens, or made a request that cannot be sent.',
    advice:
      'The message names the script and its line. Log values, and try the script with `vedette run` or with "Try it" in the dashboard.',
  },
  SCRIPT_TIMEOUT: {
    phase: 'request',
    meaning: 'A setup or teardown script did not end within 10 s, and was ended.',
    advice:
      'Look for loops without an end, patterns that backtrack, and requests by `fetch` to slow servers.',
  },
  SCRIPT_MEMORY: {
    phase: 'request',
    meaning: 'A setup or teardown script needed more than 64 MB of memory, and was ended.',
    advice: 'Look for texts and lists that grow without a bound.',
  },
  SCRIPT_REFUSED: {
    phase: 'request',
    meaning: 'The check has scripts, and EXECUTE_SCRIPTS of the agent is off. Nothing was sent.',
    advice:
      'Set EXECUTE_SCRIPTS=on on the agent, run the check in another location, or remove its scripts and those of its group.',
  },
  TOKEN_REFUSED: {
    phase: 'request',
    meaning:
      'The token endpoint of the check (`auth`) answered without a usable access token, so the target was not asked.',
    advice:
      'The message names what the token endpoint answered: check tokenUrl, clientId, clientSecret, scope and audience of the check, and that the authorization server still has this client.',
  },
  TOKEN_ENDPOINT_UNAVAILABLE: {
    phase: 'request',
    meaning:
      'The token endpoint of the check (`auth`) was not reached, or answered with a status of an outage (408, 429, 5xx), so the target was not asked.',
    advice:
      'The message says how far the agent came: check that the authorization server is up, and that the agent can reach it.',
  },
  DNS_NXDOMAIN: {
    phase: 'dns',
    meaning: 'The name does not exist.',
    advice: 'Check the name for a typing error; query the name servers in the job log: dig NAME.',
  },
  DNS_NO_ADDRESS: {
    phase: 'dns',
    meaning: 'The name exists but has no address of the requested family.',
    advice: 'Give the name an address of that family, or set ipFamily to the other one.',
  },
  DNS_SERVFAIL: {
    phase: 'dns',
    meaning: 'The name server answered SERVFAIL.',
    advice: 'Check the name servers of the zone, and DNSSEC: dig +trace NAME, dig +cd NAME.',
  },
  DNS_REFUSED: {
    phase: 'dns',
    meaning: 'The name server answered REFUSED.',
    advice:
      'Check that the name server answers queries from the network of the agent (its access list, its views).',
  },
  DNS_ERROR: {
    phase: 'dns',
    meaning: 'The name server answered with another error code.',
    advice:
      'Look up the code that the message names, and query the same server with dig from the host of the agent; if the message names no code, correct the name.',
  },
  DNS_TIMEOUT: {
    phase: 'dns',
    meaning: 'No name server answered in time.',
    advice:
      'Check that the name server is running, and that the agent can reach its port (usually 53) over UDP and TCP; a trace shows the hop where it ends.',
  },
  DNS_UNREACHABLE: {
    phase: 'dns',
    meaning: 'No name server could be reached.',
    advice:
      'Check that the addresses in resolv.conf, or nameServer of the check, are correct, that a name server listens there, and that there is a route to them.',
  },
  DNS_MALFORMED: {
    phase: 'dns',
    meaning:
      'The name server answered with bytes that are not a DNS message, or kept sending messages that answer other queries.',
    advice:
      'Check what listens on that port: it is not a DNS server, or a device in between changes its answers.',
  },
  DNS_HTTP_STATUS: {
    phase: 'dns',
    meaning: 'The server of DNS over HTTPS answered with an HTTP status other than 200 to 299.',
    advice:
      'Check nameServer, serverName, dohPath and dohMethod of the check: 4xx is often a wrong path or host, and 5xx a fault of the server, whose log has the reason.',
  },
  DNS_SERIALS_DIFFER: {
    phase: 'dns',
    meaning: 'The compared name servers have different SOA serials, or one of them did not answer.',
    advice:
      'Check the zone transfer to the name servers that are behind: NOTIFY, access lists and TSIG keys; query each with dig @SERVER ZONE SOA.',
  },
  ADDRESS_DENIED: {
    phase: 'connect',
    meaning: 'The address is in a network that TARGET_DENY blocks.',
    advice:
      'If checks should reach the target, remove its network from TARGET_DENY of the agent; otherwise correct the name or address.',
  },
  CONNECT_REFUSED: {
    phase: 'connect',
    meaning: 'The host reported that nothing listens on the port.',
    advice:
      'Check that the service is running and listens on this address and port, and that no firewall rejects the connection.',
  },
  CONNECT_TIMEOUT: {
    phase: 'connect',
    meaning: 'The connection was not established in time.',
    advice:
      'Check whether a firewall or security group drops the packets, and whether the host is up; a trace shows the hop where it ends.',
  },
  CONNECT_UNREACHABLE: {
    phase: 'connect',
    meaning: 'There is no route to the host or network.',
    advice:
      'Check whether the host is up: in the network of the agent that is the usual cause. Otherwise check the routes of the host of the agent, and the router or firewall where a trace ends.',
  },
  CONNECT_RESET: {
    phase: 'connect',
    meaning: 'The connection was reset while it was being established.',
    advice:
      'The host or a device on the way resets connections: check its firewall and its limits, and load balancers without a healthy member.',
  },
  CONNECT_FAILED: {
    phase: 'connect',
    meaning: 'The operating system refused the connection for another reason.',
    advice:
      'The message contains the error of the operating system: check the limits of open files and ports, and the firewall, on the host of the agent.',
  },
  PROXY_UNREACHABLE: {
    phase: 'proxy',
    meaning: 'No connection to the proxy of the location was established.',
    advice:
      'Check that proxyUrl of the location is correct and that the agent can reach the proxy.',
  },
  PROXY_AUTH_REQUIRED: {
    phase: 'proxy',
    meaning: 'The proxy of the location requires credentials, or rejects those it received.',
    advice:
      'Put the credentials of the proxy into proxyUrl of the location: http://user:password@proxy:3128.',
  },
  PROXY_REFUSED: {
    phase: 'proxy',
    meaning: 'The proxy of the location refused to connect to the target.',
    advice:
      'Check that the rules of the proxy allow the target and its port; the log of the proxy contains the reason.',
  },
  TLS_CERT_EXPIRED: {
    phase: 'tls',
    meaning: 'A certificate of the chain has expired.',
    advice:
      'Renew the certificate that the result shows, with its chain, and make the server load it.',
  },
  TLS_CERT_NOT_YET_VALID: {
    phase: 'tls',
    meaning: 'A certificate of the chain is not valid yet.',
    advice:
      'Compare the clocks of the server and of the host of the agent with the dates in the result.',
  },
  TLS_HOSTNAME_MISMATCH: {
    phase: 'tls',
    meaning: 'The certificate is not valid for this host name.',
    advice: 'Give the server a certificate for this name, or use one of the names in the result.',
  },
  TLS_SELF_SIGNED: {
    phase: 'tls',
    meaning: 'The certificate, or the root it leads to, is self-signed and not trusted.',
    advice:
      'Set NODE_EXTRA_CA_CERTS of the agent to a file with its root, or use a certificate of a trusted authority; skipSSL accepts any certificate.',
  },
  TLS_UNTRUSTED: {
    phase: 'tls',
    meaning: 'The chain does not lead to a trusted root; an intermediate may be missing.',
    advice:
      'Make the server send its intermediate certificates, or set NODE_EXTRA_CA_CERTS of the agent to a file with the root.',
  },
  TLS_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The certificate fails verification for another reason.',
    advice: 'The message says what is wrong with the certificate: have it reissued.',
  },
  TLS_PROTOCOL_UNSUPPORTED: {
    phase: 'tls',
    meaning: 'The server supports no TLS version that is still secure (1.2 or 1.3).',
    advice: 'Enable TLS 1.2 or 1.3 on the server.',
  },
  TLS_CLIENT_CERT_REJECTED: {
    phase: 'tls',
    meaning: 'The server requires a client certificate, or rejected the one it received.',
    advice: 'Add a client certificate for this host to the account, or renew the existing one.',
  },
  STARTTLS_FAILED: {
    phase: 'tls',
    meaning:
      'The server does not offer the upgrade to TLS, refused it, or violated the protocol of the upgrade.',
    advice:
      'The message contains what the server said: check that startTlsProtocol is the protocol of this port, and that TLS is enabled on the server.',
  },
  TLS_HANDSHAKE_FAILED: {
    phase: 'tls',
    meaning: 'The handshake failed, for example because there is no common cipher.',
    advice:
      'Compare the versions and ciphers of the server with: openssl s_client -connect HOST:PORT.',
  },
  TLS_TIMEOUT: {
    phase: 'tls',
    meaning: 'The handshake was not completed in time.',
    advice:
      'The port is open, but nothing answers in TLS: check whether the server is overloaded, or uses another protocol on this port.',
  },
  TLS_RESET: {
    phase: 'tls',
    meaning: 'The connection was closed or reset during the handshake.',
    advice:
      'Check whether the server uses TLS on this port and knows this host name (SNI), and whether a device in between resets connections.',
  },
  CLIENT_CERT_INVALID: {
    phase: 'tls',
    meaning: 'The client certificate or key configured for the host cannot be used.',
    advice: 'Check that certificate, key and passphrase belong together.',
  },
  RESPONSE_TIMEOUT: {
    phase: 'response',
    meaning: 'No complete response headers, or no response data, came in time.',
    advice:
      'The connection was established, but no response comes: check the load and the log of the service.',
  },
  STEP_FAILED: {
    phase: 'response',
    meaning: 'What a step of the check expects did not arrive.',
    advice:
      'The message names the step, and what arrived instead: compare it with `expect`, and see the log of the service.',
  },
  CONNECTION_RESET: {
    phase: 'response',
    meaning: 'The connection was reset after the request was sent.',
    advice:
      'Check the log of the service for a crash or a restart, and the time-outs of load balancers in front of it.',
  },
  CONNECTION_CLOSED: {
    phase: 'response',
    meaning: 'The connection was closed before a response came.',
    advice: 'Check the log of the service: it closed the connection before it responded.',
  },
  PROTOCOL_ERROR: {
    phase: 'response',
    meaning: 'The response violates its protocol.',
    advice: 'Check what listens on this port, and whether http and https are mixed up.',
  },
  HEADERS_TOO_LARGE: {
    phase: 'response',
    meaning: 'The response headers are larger than 64 KiB.',
    advice: 'Make the service send fewer or shorter headers; cookies are the most common cause.',
  },
  RESPONSE_FLOOD: {
    phase: 'response',
    meaning:
      'The response contains almost no content for what the agent has to read: more than 2 MiB of framing (plus 128 bytes for each byte of body, at most 16 MiB), or more than 500,000 pieces.',
    advice:
      'Use curl -v --raw to see what the service sends: endless chunk extensions, HTTP/2 control frames or TLS messages, or a body byte by byte.',
  },
  TOO_MANY_REDIRECTS: {
    phase: 'response',
    meaning: 'The target answered with more than 10 redirects in a row.',
    advice:
      'Follow the redirects in the job log: often two of them lead to each other, or expect a cookie that checks do not store.',
  },
  REDIRECT_INVALID: {
    phase: 'response',
    meaning: 'A redirect has no URL that can be followed.',
    advice: 'Correct the Location header that the service sends.',
  },
  BODY_TIMEOUT: {
    phase: 'body',
    meaning: 'The response body was not complete in time.',
    advice: 'The response began but did not end: check what generates the body, and its size.',
  },
  BODY_TRUNCATED: {
    phase: 'body',
    meaning: 'The connection ended before the body was complete.',
    advice:
      'Check the log of the service, or of a proxy in front of it, for what ended the response.',
  },
  BODY_DECODE_FAILED: {
    phase: 'body',
    meaning: 'The body does not match its Content-Encoding.',
    advice:
      'Make the service send the Content-Encoding that it uses; a cache may have changed one of the two.',
  },
  ICMP_NO_REPLY: {
    phase: 'icmp',
    meaning: 'No echo request was answered.',
    advice:
      'Check whether the host is up and whether a firewall drops echo requests; a trace shows the hop where it ends.',
  },
  ICMP_UNREACHABLE: {
    phase: 'icmp',
    meaning: 'A router or the host reported that the host is unreachable.',
    advice:
      'Check the router that the message names: it has no route, or prohibits the connection.',
  },
  ICMP_NOT_PERMITTED: {
    phase: 'icmp',
    meaning: 'The agent is not permitted to open an ICMP socket; the message says how to allow it.',
    advice: 'Set net.ipv4.ping_group_range, or give the agent CAP_NET_RAW.',
  },
  CANCELLED: {
    phase: 'agent',
    meaning:
      'The run was cancelled, on request or because the agent stopped; the message says which.',
    advice:
      'Nothing: a run that was cancelled on request has no verdict, and one that the agent did not complete counts as missed.',
  },
  INTERNAL_ERROR: {
    phase: 'agent',
    meaning: 'A fault of the agent itself, never of the target.',
    advice: 'Report it with the job log and the log of the agent.',
  },
} as const satisfies Record<string, { phase: string; meaning: string; advice: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Faults of the agent itself: they set `hasErrors` and say nothing about the target. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set(['ICMP_NOT_PERMITTED', 'INTERNAL_ERROR']);

export function isOwnFault(code: ErrorCode): boolean {
  return OWN_FAULTS.has(code);
}

/** Why an attempt ended without the expected response: a value, never thrown. */
export interface Failure {
  readonly code: ErrorCode;
  /** A sentence for users: the target, what happened, and how long it took. */
  readonly message: string;
  /** The failure that caused this one, if there is one; not part of results. */
  readonly cause?: ErrorCode;
}

const SETTINGS_AT_FAULT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'VARIABLE_UNKNOWN',
  'CREDENTIAL_NOT_READABLE',
  'VARIABLE_DENIED',
  'REQUEST_INVALID',
  'SCRIPT_FAILED',
  'SCRIPT_TIMEOUT',
  'SCRIPT_MEMORY',
  'SCRIPT_REFUSED',
  'TOKEN_REFUSED',
  'TOKEN_ENDPOINT_UNAVAILABLE',
  'ADDRESS_DENIED',
  'PROXY_UNREACHABLE',
  'PROXY_AUTH_REQUIRED',
  'CLIENT_CERT_INVALID',
]);

/**
 * Failures that say nothing about the target: a setting prevented the attempt, or a script of the
 * check, a proxy or an authorization server failed. They also fail a check with shouldFail, which
 * would otherwise report a forbidden target as healthy.
 */
export function isSettingsFault(code: ErrorCode): boolean {
  return SETTINGS_AT_FAULT.has(code);
}
