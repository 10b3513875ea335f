import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../../../src/service/alerts/senders/signature.ts';

const BODY = '{"name": "größer 😀"}';

describe('the headers of a webhook', () => {
  it('sign the bytes of the body', () => {
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

  it('say nothing of a signature where there is no secret', () => {
    const headers = signedHeaders({ deliveryId: 'd', body: BODY, secret: null, atMs: 0 });
    expect(Object.keys(headers)).toEqual(['x-service-delivery', 'x-service-timestamp']);
  });
});
