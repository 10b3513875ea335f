import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../../src/service/outgoing/signed-headers.ts';

const BODY = '{"name": "größer 😀"}';

describe('signedHeaders of a webhook', () => {
  it('signs the bytes of the body with the secret', () => {
    const secret = 'schlüssel';
    const headers = signedHeaders({ deliveryId: 'd', body: BODY, secret, atMs: 1_700_000_000_999 });
    expect(headers).toEqual({
      'x-service-delivery': 'd',
      'x-service-timestamp': '1700000000',
      'x-service-signature': createHmac('sha256', Buffer.from(secret))
        .update(Buffer.from(BODY))
        .digest('hex'),
    });
  });

  it('omits the signature where there is no secret', () => {
    const headers = signedHeaders({ deliveryId: 'd', body: BODY, secret: null, atMs: 0 });
    expect(Object.keys(headers)).toEqual(['x-service-delivery', 'x-service-timestamp']);
  });
});
