import { describe, expect, test } from 'vitest';
import {
  describeConnectionEnd,
  isCutOff,
} from '../../../../../src/agent/probes/http/connection-end.ts';
import { describeHttp2End } from '../../../../../src/agent/probes/http/http2/http2-error.ts';

const QUIET = { error: null, ended: false };
const CLOSED = { error: null, ended: true };
const coded = (code: string) => Object.assign(new Error('text that nobody reads'), { code });

describe('HTTP/1', () => {
  test.each([
    ['ECONNRESET', 'CONNECTION_RESET', 'CONNECTION_RESET'],
    ['EPIPE', 'CONNECTION_RESET', 'CONNECTION_RESET'],
    ['ETIMEDOUT', 'RESPONSE_TIMEOUT', 'BODY_TIMEOUT'],
    ['HEADERS_TOO_LARGE', 'HEADERS_TOO_LARGE', 'HEADERS_TOO_LARGE'],
    ['WRONG_CONTENT_LENGTH', 'PROTOCOL_ERROR', 'BODY_TRUNCATED'],
    ['HPE_INVALID_EOF_STATE', 'CONNECTION_CLOSED', 'BODY_TRUNCATED'],
    ['HPE_INVALID_CONSTANT', 'PROTOCOL_ERROR', 'PROTOCOL_ERROR'],
    ['CONNECTION_ENDED', 'CONNECTION_CLOSED', 'BODY_TRUNCATED'],
    ['UNSENDABLE_REQUEST', 'INTERNAL_ERROR', 'INTERNAL_ERROR'],
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'TLS_CLIENT_CERT_REJECTED',
      'TLS_CLIENT_CERT_REJECTED',
    ],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'PROTOCOL_ERROR', 'PROTOCOL_ERROR'],
    ['SOMETHING_NEW', 'PROTOCOL_ERROR', 'PROTOCOL_ERROR'],
  ])('%s is %s before the response and %s inside it', (code, before, within) => {
    expect(describeConnectionEnd(coded(code), QUIET, false).code).toBe(before);
    expect(describeConnectionEnd(coded(code), QUIET, true).code).toBe(within);
  });

  test('an error of the operating system takes precedence over one of the parser', () => {
    const evidence = { error: coded('ECONNRESET'), ended: false };
    const error = coded('WRONG_CONTENT_LENGTH');
    expect(describeConnectionEnd(error, evidence, true).code).toBe('CONNECTION_RESET');
    expect(isCutOff(evidence)).toBe(true);
    expect(isCutOff(CLOSED)).toBe(false);
  });
});

describe('HTTP/2', () => {
  const end = {
    error: null,
    resetCode: 0,
    goaway: false,
    closed: false,
    short: false,
    evidence: QUIET,
    responded: false,
  };

  test.each([
    [{ resetCode: 8 }, 'CONNECTION_RESET', 'CANCEL'],
    [{ resetCode: 8, closed: true }, 'CONNECTION_CLOSED', 'closed'],
    [{ resetCode: 8, closed: true, responded: true }, 'BODY_TRUNCATED', 'closed'],
    [{ resetCode: 7, goaway: true }, 'CONNECTION_CLOSED', 'GOAWAY'],
    [{ resetCode: 1 }, 'PROTOCOL_ERROR', 'PROTOCOL_ERROR'],
    [{ resetCode: 1, short: true, responded: true }, 'BODY_TRUNCATED', 'Content-Length'],
    [{ resetCode: 11 }, 'HEADERS_TOO_LARGE', '64 KiB'],
    [{ resetCode: 11, responded: true }, 'CONNECTION_RESET', 'ENHANCE_YOUR_CALM'],
    [{ resetCode: 99 }, 'CONNECTION_RESET', 'code 99'],
    [{ error: coded('ERR_HTTP2_ERROR') }, 'PROTOCOL_ERROR', 'HTTP/2'],
    [{ error: coded('ECONNRESET'), responded: true }, 'CONNECTION_RESET', 'reset'],
  ])('%o is %s', (fields, code, words) => {
    const ending = describeHttp2End({ ...end, ...fields });
    expect(ending.code).toBe(code);
    expect(ending.what).toContain(words);
  });
});
