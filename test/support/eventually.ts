/**
 * Yields to the event loop until the condition holds: for the work of real files and sockets while
 * the fake clock stands still. Only the test's time limit ends it otherwise.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve));
}
