import { createHmac } from 'node:crypto';

/**
 * The headers with which a receiver verifies the sender and recognises repeated messages: src/service/README.md,
 * "Notifications: email, webhook, Slack, SMS". `x-service-signature` is the HMAC-SHA256 of the
 * body's bytes as they are sent, with the webhook's secret as UTF-8, in hexadecimal digits; without
 * a secret there is none.
 *
 * @param atMs epoch milliseconds; `x-service-timestamp` is in whole seconds
 */
export function signedHeaders({
  deliveryId,
  body,
  secret,
  atMs,
}: {
  readonly deliveryId: string;
  readonly body: string;
  readonly secret: string | null;
  readonly atMs: number;
}): Readonly<Record<string, string>> {
  return {
    'x-service-delivery': deliveryId,
    'x-service-timestamp': String(Math.floor(atMs / 1000)),
    ...(secret === null
      ? {}
      : { 'x-service-signature': createHmac('sha256', secret).update(body).digest('hex') }),
  };
}
