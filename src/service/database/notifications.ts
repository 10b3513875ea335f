import { AsyncResource } from 'node:async_hooks';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { StoreError } from './store-errors.ts';

const CHANNEL = /^[a-z_][a-z0-9_]{0,62}$/;

/** @throws StoreError for a name that would need quotes */
export function requireChannelName(channel: string): void {
  if (CHANNEL.test(channel)) return;
  const message = `"${channel}" is not a name for a channel: lower-case letters, digits and _ only`;
  throw new StoreError('internal', 'STORE_USE', message);
}

/**
 * Wraps a callback so that it runs in a later iteration of the event loop, outside of the database's locks and
 * of the transaction that sent the notification. Logs what the callback throws.
 */
export function deferred<Args extends readonly unknown[]>(
  callback: (...args: Args) => void,
  log: Logger,
): (...args: Args) => void {
  return AsyncResource.bind((...args: Args) => {
    setImmediate(() => {
      try {
        callback(...args);
      } catch (thrown) {
        log.error({ err: thrown }, `a listener to the database failed: ${messageOf(thrown)}`);
      }
    });
  });
}
