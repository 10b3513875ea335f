import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenApiDocument, operationsOf } from '../../../../support/openapi/document.ts';
import { emptyService } from '../../../../support/openapi/service-document.ts';

type Service = Awaited<ReturnType<typeof emptyService>>;

describe('the document of the API and its page', () => {
  let service: Service;
  beforeEach(async () => {
    service = await emptyService({ pages: [] });
  });
  afterEach(() => service.close());

  it('are made in slices, while other requests are answered', async () => {
    const answered: string[] = [];
    let turns = 0;
    let isMade = false;
    const countTurn = (): void => {
      turns += 1;
      if (!isMade) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    const making = service.inject('/openapi.json').then((response) => {
      isMade = true;
      answered.push('document');
      return response;
    });
    for (let n = 0; n < 20; n += 1) {
      expect((await service.inject('/-/liveness')).statusCode).toBe(200);
      answered.push('liveness');
    }
    expect(answered).not.toContain('document');
    const document: OpenApiDocument = (await making).json();
    // The event loop goes on after each operation at least.
    expect(turns).toBeGreaterThan(operationsOf(document).length);
  });

  it('are the same for all who ask at once, and afterwards', async () => {
    const paths = ['/openapi.json', '/docs/api', '/openapi.json', '/docs/api'];
    const atOnce = await Promise.all(paths.map((path) => service.inject(path)));
    const later = await Promise.all(paths.map((path) => service.inject(path)));
    const tags = [...atOnce, ...later].map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(2);
    expect(atOnce.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  });
});
