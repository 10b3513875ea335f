/**
 * Lets the event loop turn until the condition holds: for work that real files and sockets do
 * while the fake clock stands still. The test's own time limit ends it otherwise.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve));
}
