import { S3ServiceException } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { VedetteError } from '../../../../src/runtime/errors.ts';
import { ArtifactError, diskError } from '../../../../src/service/object-store/errors.ts';
import { s3Error } from '../../../../src/service/object-store/s3/s3-errors.ts';

describe('a failed file operation', () => {
  const failed = (code: string): Error => Object.assign(new Error('x'), { code });

  it.each([
    ['ENOSPC', 'ARTIFACT_STORE_FULL'],
    ['EDQUOT', 'ARTIFACT_STORE_FULL'],
    ['EIO', 'ARTIFACT_STORE_FAILED'],
    ['EROFS', 'ARTIFACT_STORE_FAILED'],
    ['EACCES', 'ARTIFACT_STORE_FAILED'],
  ])('%s is %s, of the environment', (systemCode, code) => {
    const error = diskError(failed(systemCode), 'write a part');
    expect(error).toBeInstanceOf(VedetteError);
    expect(error).toMatchObject({ code, kind: 'environment', attributes: { systemCode } });
    expect(error.message).toMatch(/^The artifact store could not write a part: .*$/);
    expect(error.message).toContain(systemCode);
  });

  it('that is our own error stays it', () => {
    const own = new ArtifactError('ARTIFACT_NOT_FOUND', 'There is none');
    expect(diskError(own, 'x')).toBe(own);
    expect(s3Error(own, 'x')).toBe(own);
  });
});

describe('a failed request to the object store', () => {
  const answered = (name: string, httpStatusCode: number): S3ServiceException =>
    new S3ServiceException({ name, $fault: 'client', message: 'x', $metadata: { httpStatusCode } });

  it.each([
    ['SlowDown', 503, 'ARTIFACT_STORE_UNAVAILABLE'],
    ['InternalError', 500, 'ARTIFACT_STORE_UNAVAILABLE'],
    ['TooManyRequests', 429, 'ARTIFACT_STORE_UNAVAILABLE'],
    ['AccessDenied', 403, 'ARTIFACT_STORE_REFUSED'],
    ['ExpiredToken', 400, 'ARTIFACT_STORE_REFUSED'],
    ['NoSuchBucket', 404, 'ARTIFACT_STORE_REFUSED'],
    ['QuotaExceeded', 403, 'ARTIFACT_STORE_FULL'],
    ['Whatever', 507, 'ARTIFACT_STORE_FULL'],
    ['InvalidRequest', 400, 'ARTIFACT_STORE_FAILED'],
  ])('with %s (%i) is %s', (name, status, code) => {
    const error = s3Error(answered(name, status), 'read an artifact');
    expect(error).toMatchObject({
      code,
      kind: 'environment',
      attributes: { s3Code: name, status },
    });
    expect(error.message).not.toContain('\n');
  });

  it('without an answer is unavailable', () => {
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    expect(s3Error(reset, 'x')).toMatchObject({
      code: 'ARTIFACT_STORE_UNAVAILABLE',
      attributes: { s3Code: 'ECONNRESET', status: null },
    });
  });
});
