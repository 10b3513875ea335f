import { AsyncLocalStorage } from 'node:async_hooks';

const loops = new AsyncLocalStorage<true>();

/** Runs what the service does by itself. */
export function asLoop<T>(work: () => T): T {
  return loops.run(true, work);
}

/** Whether this is done by the service itself, and for nobody who asked. */
export function isOfLoop(): boolean {
  return loops.getStore() === true;
}
