import { describe, expect, it } from 'vitest';
import { classifyError } from '../../../../src/service/database/store-errors.ts';

function fromServer(code: string, constraint?: string): Error {
  return Object.assign(new Error('words\nof the server'), { code, severity: 'ERROR', constraint });
}

describe('classifyError', () => {
  it.each([
    ['08006', 'unavailable', 'STORE_CONNECTION', true],
    ['57P01', 'unavailable', 'STORE_SHUTDOWN', true],
    ['57P03', 'unavailable', 'STORE_SHUTDOWN', true],
    ['57014', 'unavailable', 'STORE_STATEMENT_TIMEOUT', false],
    ['53300', 'unavailable', 'STORE_TOO_MANY', true],
    ['53100', 'unavailable', 'STORE_RESOURCES', false],
    ['25006', 'unavailable', 'STORE_READ_ONLY', true],
    ['40001', 'unavailable', 'STORE_SERIALIZATION', false],
    ['55P03', 'unavailable', 'STORE_LOCK_TIMEOUT', false],
    ['28P01', 'unavailable', 'STORE_REFUSED', true],
    ['23505', 'conflict', 'STORE_UNIQUE', false],
    ['23503', 'conflict', 'STORE_REFERENCE', false],
    ['22P05', 'invalid', 'STORE_VALUE', false],
    ['54000', 'invalid', 'STORE_TOO_LARGE', false],
    ['42601', 'internal', 'STORE_STATEMENT', false],
    ['XX000', 'internal', 'STORE_STATEMENT', false],
  ])('takes SQLSTATE %s as %s %s', (sqlState, kind, code, broken) => {
    const judged = classifyError(fromServer(sqlState));
    expect(judged.error).toMatchObject({ kind, code, sqlState, constraint: null });
    expect(judged.broken).toBe(broken);
  });

  it('distinguishes a violated check from a row without a partition', () => {
    expect(classifyError(fromServer('23514', 'size_check')).error).toMatchObject({
      kind: 'invalid',
      code: 'STORE_CHECK',
      constraint: 'size_check',
    });
    expect(classifyError(fromServer('23514')).error).toMatchObject({ code: 'STORE_NO_PARTITION' });
  });

  // EPIPE has the length of a SQLSTATE.
  it.each(['EPIPE', 'ECONNREFUSED', 'ENOTFOUND', undefined])('takes %s as unreachable', (code) => {
    const judged = classifyError(Object.assign(new Error('write'), { code }));
    expect(judged.error).toMatchObject({
      kind: 'unavailable',
      code: 'STORE_CONNECTION',
      sqlState: null,
    });
    expect(judged.broken).toBe(true);
  });

  it('takes an untrusted certificate as a wrong setting', () => {
    const thrown = Object.assign(new Error('self-signed certificate'), {
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    const judged = classifyError(thrown);
    expect(judged.error).toMatchObject({ kind: 'unavailable', code: 'STORE_REFUSED' });
    expect(judged.broken).toBe(true);
  });

  it('treats a wrong use of a driver as an internal error', () => {
    expect(classifyError(new TypeError('not a function')).error).toMatchObject({
      kind: 'internal',
    });
  });

  it('has a message of one line, also for an error without a message', () => {
    expect(classifyError(fromServer('42601')).error.message).toBe(
      'the database answered: words of the server (SQLSTATE 42601)',
    );
    // The error of Node if all addresses of a name refuse.
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(classifyError(error).error.message).toContain('ECONNREFUSED');
  });
});
