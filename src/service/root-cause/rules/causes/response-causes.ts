import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';

/** Why no complete response came over an established connection. */
export const RESPONSE_CAUSES: Readonly<Record<CodesOf<'response' | 'body'>, CauseRow>> = {
  RESPONSE_TIMEOUT: {
    classification: 'TIMEOUT',
    cause: ({ target }) =>
      `${target} accepted the connection and the request, and did not answer in time. Likely the application hangs or is overloaded, or waits for something behind it: a database, a lock, another service.`,
    fix: () =>
      'Look at what the application did at the time of the run: slow queries, exhausted pools and threads, calls to other services without a time limit. Restart it if it hangs, and give what it waits for a time limit.',
    links: [LINKS.status504],
  },
  STEP_FAILED: {
    classification: 'UNEXPECTED_CONTENT',
    cause: ({ target }) =>
      `${target} accepted the connection, and did not send what a step of the check expects: the agent's message names the step and what arrived instead. Likely the service was changed, is not ready, or refused what an earlier step sent.`,
    fix: () =>
      'Make the same steps with "nc" or "openssl s_client" and compare what comes. If what came is right, change what the step expects.',
    links: [],
  },
  CONNECTION_RESET: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `The connection to ${target} was reset after the request was sent. Likely the process crashed or was restarted, or a load balancer or firewall broke the connection off.`,
    fix: () =>
      'Look for a crash, a restart or a deployment at the time of the run in the log of the application and of the load balancer, and for memory limits that end processes.',
    links: [LINKS.tcpReset],
  },
  CONNECTION_CLOSED: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `${target} closed the connection without a response. Likely the process ended while it worked on the request, or the port is of another protocol than the check speaks.`,
    fix: () =>
      'Look into the log of the application at the time of the run, and see that the protocol and the port of the check are those of the service (http or https).',
    links: [LINKS.persistence],
  },
  PROTOCOL_ERROR: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `What ${target} sent breaks the rules of its protocol; the agent's message says where. Likely another protocol is spoken on the port, or the application or a proxy writes faulty headers.`,
    fix: () =>
      'See with "curl -v" what is sent. Correct the port or scheme in the check, or the part of the server that writes the response.',
    links: [LINKS.framing, LINKS.httpErrors],
  },
  HEADERS_TOO_LARGE: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `The headers of the response of ${target} are larger than 64 KiB. Likely cookies or debugging headers grow without a bound.`,
    fix: () => 'See with "curl -I" which headers are so large, and bound them.',
    links: [LINKS.tooLargeFields],
  },
  RESPONSE_FLOOD: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `${target} sent on and on with next to no content: chunk extensions, HTTP/2 control frames, TLS messages, or a body byte by byte. Likely the server or a proxy is faulty, or means to keep its clients busy.`,
    fix: () =>
      'See with "curl -v --raw" what is sent, and have the server write its body in larger pieces. Where you do not know the server, take the check away from it.',
    links: [LINKS.flood, LINKS.framing],
  },
  TOO_MANY_REDIRECTS: {
    classification: 'REDIRECT_PROBLEM',
    cause: ({ target }) =>
      `The request ended at ${target} after more than 10 redirects in a row. Likely two rules send the client back and forth: http and https, with and without www, or a login page.`,
    fix: () =>
      'Follow the redirects with "curl -IL" and take out the rule that leads back. Behind a proxy that ends TLS, see that the application is told that the client came by https (X-Forwarded-Proto).',
    links: [LINKS.redirects],
  },
  REDIRECT_INVALID: {
    classification: 'REDIRECT_PROBLEM',
    cause: ({ target }) =>
      `A redirect that ${target} answered names no address that can be followed. Likely its Location header is built from a setting that is empty or wrong.`,
    fix: () =>
      'See the Location header with "curl -I", and correct the base address that the application or proxy builds it from.',
    links: [LINKS.redirects],
  },
  BODY_TIMEOUT: {
    classification: 'TIMEOUT',
    cause: ({ target }) =>
      `${target} began to answer, and its body was not complete in time. Likely the application stalls while it writes, the body is very large, or the line is slow or loses packets.`,
    fix: () =>
      'See how large the body is and how long "curl" takes for it from the same network. Make the body of the address that is checked small, and look for what the application waits for while it writes.',
    links: [LINKS.framing],
  },
  BODY_TRUNCATED: {
    classification: 'CONNECTION_LOST',
    cause: ({ target }) =>
      `The connection to ${target} ended before the whole body came. Likely the application crashed while it wrote, a proxy met a limit, or the Content-Length is wrong.`,
    fix: () =>
      'Look into the logs of the application and the proxy at the time of the run: time limits, buffer sizes and crashes. See that Content-Length is what is sent.',
    links: [LINKS.incomplete],
  },
  BODY_DECODE_FAILED: {
    classification: 'PROTOCOL_VIOLATION',
    cause: ({ target }) =>
      `The body of ${target} is not what its Content-Encoding says. Likely it is compressed twice or not at all, or a proxy changed the header and not the body.`,
    fix: () =>
      'Let one place alone compress, the application or the proxy, and see with "curl --compressed -v" that the body can be read.',
    links: [LINKS.contentCoding],
  },
};
