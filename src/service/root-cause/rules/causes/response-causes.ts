import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';

/** Why no complete response came over an established connection. */
export const RESPONSE_CAUSES: Readonly<Record<CodesOf<'response' | 'body'>, CauseRow>> = {
  RESPONSE_TIMEOUT: {
    classification: 'TIMEOUT',
    cause: ({ target }) =>
      `${target} accepted the connection and the request, but did not answer in time. Likely the application hangs, is overloaded, or waits for something else: a database, a lock, another service.`,
    fix: () =>
      'Look at what the application did at the time of the run: slow queries, exhausted pools and threads, calls to other services without a timeout. Restart it if it hangs, and set timeouts for everything it waits for.',
    links: [LINKS.status504],
  },
  STEP_FAILED: {
    classification: 'UNEXPECTED_CONTENT',
    cause: ({ target }) =>
      `${target} accepted the connection, but did not send what a step of the check expects: the agent's message names the step and what arrived instead. Likely the service was changed, is not ready, or rejected what an earlier step sent.`,
    fix: () =>
      'Run the same steps with "nc" or "openssl s_client" and compare the answers. If they are correct, change what the step expects.',
    links: [],
  },
  CONNECTION_RESET: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `The connection to ${target} was reset after the request was sent. Likely the process crashed or was restarted, or a load balancer or firewall ended the connection.`,
    fix: () =>
      'Look for a crash, a restart or a deployment at the time of the run in the log of the application and of the load balancer, and for memory limits that end processes.',
    links: [LINKS.tcpReset],
  },
  CONNECTION_CLOSED: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `${target} closed the connection without a response. Likely the process ended while it handled the request, or the port uses another protocol than the check.`,
    fix: () =>
      'Look at the log of the application at the time of the run, and make sure that the protocol and the port of the check match the service (http or https).',
    links: [LINKS.persistence],
  },
  PROTOCOL_ERROR: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `The data from ${target} violates its protocol; the agent's message says where. Likely the port uses another protocol, or the application or a proxy sends malformed headers.`,
    fix: () =>
      'Check with "curl -v" what is sent. Correct the port or scheme in the check, or the part of the server that creates the response.',
    links: [LINKS.framing, LINKS.httpErrors],
  },
  HEADERS_TOO_LARGE: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `The headers of the response of ${target} are larger than 64 KiB. Likely cookies or debugging headers grow without a limit.`,
    fix: () => 'Check with "curl -I" which headers are so large, and limit them.',
    links: [LINKS.tooLargeFields],
  },
  RESPONSE_FLOOD: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `${target} kept sending data with almost no content: chunk extensions, HTTP/2 control frames, TLS messages, or a body byte by byte. Likely the server or a proxy is faulty, or keeps its clients busy on purpose.`,
    fix: () =>
      'Check with "curl -v --raw" what is sent, and make the server send its body in larger pieces. If you do not know the server, remove the check.',
    links: [LINKS.flood, LINKS.framing],
  },
  TOO_MANY_REDIRECTS: {
    classification: 'REDIRECT_PROBLEM',
    cause: ({ target }) =>
      `The request ended at ${target} after more than 10 redirects in a row. Likely two rules send the client back and forth: http and https, with and without www, or a login page.`,
    fix: () =>
      'Follow the redirects with "curl -IL" and remove the rule that leads back. Behind a proxy that terminates TLS, make sure that the application learns that the client used https (X-Forwarded-Proto).',
    links: [LINKS.redirects],
  },
  REDIRECT_INVALID: {
    classification: 'REDIRECT_PROBLEM',
    cause: ({ target }) =>
      `${target} answered with a redirect to an invalid address. Likely its Location header is built from a setting that is empty or wrong.`,
    fix: () =>
      'Look at the Location header with "curl -I", and correct the base address from which the application or proxy builds it.',
    links: [LINKS.redirects],
  },
  BODY_TIMEOUT: {
    classification: 'TIMEOUT',
    cause: ({ target }) =>
      `${target} began to answer, but its body was not complete in time. Likely the application stalls while it writes, the body is very large, or the network is slow or loses packets.`,
    fix: () =>
      'Check how large the body is and how long "curl" takes for it from the same network. Check an address with a small body, and find out what the application waits for while it writes.',
    links: [LINKS.framing],
  },
  BODY_TRUNCATED: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `The connection to ${target} ended before the whole body arrived. Likely the application crashed while it wrote, a proxy reached a limit, or the Content-Length is wrong.`,
    fix: () =>
      'Look at the logs of the application and the proxy at the time of the run: timeouts, buffer sizes and crashes. Make sure that Content-Length is the number of bytes sent.',
    links: [LINKS.incomplete],
  },
  BODY_DECODE_FAILED: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `The body of ${target} does not match its Content-Encoding. Likely it is compressed twice or not at all, or a proxy changed the header but not the body.`,
    fix: () =>
      'Compress in one place only, the application or the proxy, and check with "curl --compressed -v" that the body can be read.',
    links: [LINKS.contentCoding],
  },
};
