import { AsyncLocalStorage } from 'node:async_hooks';

const loops = new AsyncLocalStorage<true>();

/** Runs the service's background work. */
export function asLoop<T>(work: () => T): T {
  return loops.run(true, work);
}

/** Whether the service itself does this, without a request. */
export function isOfLoop(): boolean {
  return loops.getStore() === true;
}
