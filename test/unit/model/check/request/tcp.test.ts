import { describe, expect, test } from 'vitest';
import { tcpRequestSchema } from '../../../../../src/model/check/request/tcp.ts';

const problemsOf = (fields: object): readonly string[] => {
  const parsed = tcpRequestSchema.safeParse({ hostname: 'mail.test', port: 25, ...fields });
  return parsed.error?.issues.map(({ path }) => path.join('.')) ?? [];
};

describe('the request of a TCP check', () => {
  test.each<[object, readonly string[]]>([
    [{}, []],
    [{ tls: 'ON', serverName: 'mx.test', alpnProtocols: ['h2'] }, []],
    [{ tls: 'STARTTLS', startTlsProtocol: 'SMTP' }, []],
    [{ tls: 'STARTTLS' }, ['startTlsProtocol']],
    [{ tls: 'ON', startTlsProtocol: 'SMTP' }, ['startTlsProtocol']],
    [{ alpnProtocols: [''] }, ['alpnProtocols.0']],
    [{ steps: [{ expect: '^220' }, { send: 'QUIT\r\n' }] }, []],
    [{ steps: [{ send: 'x' }], data: 'x' }, ['data']],
    [{ steps: [{}] }, ['steps.0.send']],
    [{ steps: [{ expect: '(' }] }, ['steps.0.expect']],
    [{ steps: [{ format: 'HEX', send: '00 fF', expect: '0a' }] }, []],
    [{ steps: [{ format: 'HEX', send: '0', expect: 'xy' }] }, ['steps.0.send', 'steps.0.expect']],
    [{ steps: [{ format: 'HEX', send: '{{TOKEN}}' }] }, ['steps.0.send']],
    [{ ipFamily: 'ANY' }, []],
    [{ ipFamily: 'BOTH' }, []],
    [{ ipFamily: 'ANY', hostname: '192.0.2.1' }, []],
    [{ ipFamily: 'BOTH', hostname: '192.0.2.1' }, ['ipFamily']],
    [{ ipFamily: 'BOTH', hostname: '[2001:db8::1]' }, ['ipFamily']],
  ])('%j has problems at %j', (fields, paths) => {
    expect(problemsOf(fields)).toEqual(paths);
  });
});
