import { describe, expect, it } from 'vitest';
import { classifyError, StoreError } from '../../../../src/service/database/store-errors.ts';
import { isRetryable } from '../../../../src/service/database/transactions.ts';

function fromServer(code: string): Error {
  return Object.assign(new Error('words of the server'), { code, severity: 'ERROR' });
}

describe('isRetryable', () => {
  it.each([
    ['40001', true],
    ['40P01', true],
    ['40003', false],
    ['23505', false],
    ['08006', false],
  ])('%s: %o', (sqlState, expected) => {
    expect(isRetryable(classifyError(fromServer(sqlState)).error)).toBe(expected);
  });

  it('is for what the database says alone', () => {
    expect(isRetryable(new Error('40001'))).toBe(false);
    expect(isRetryable(new StoreError('unavailable', 'STORE_BUSY', 'busy'))).toBe(false);
  });
});
