import type { HopRequest } from '../transport.ts';

/** RFC 9110 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 5.5: characters that a field value, sent as Latin-1, must not contain. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
/** RFC 9112 3.2: a request target is visible ASCII; the URL parser makes it so. */
const NOT_IN_TARGET = /[^\x21-\x7e]/;

/**
 * Request line and header fields, as Latin-1; null if they cannot be sent without changing their
 * meaning. Host comes first (RFC 9110 7.2), and the connection ends with the response.
 */
export function requestHead(request: HopRequest): string | null {
  const { method, url, headers } = request;
  const target = request.requestTarget ?? `${url.pathname}${url.search}`;
  if (!TOKEN.test(method) || NOT_IN_TARGET.test(target)) return null;
  let host = url.host;
  let fields = '';
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || NOT_IN_VALUE.test(value)) return null;
    if (name.length === HOST_CHARS && name.toLowerCase() === 'host') host = value;
    else fields += `${name}: ${value}\r\n`;
  }
  return `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${fields}\r\n`;
}

const HOST_CHARS = 'host'.length;
