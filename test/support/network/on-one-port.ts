import { systemCodeOf } from '../../../src/runtime/errors.ts';
import type { Listening } from '../servers/tcp-servers.ts';

/**
 * Two servers with the same port on different addresses. The kernel's choice for the first may be taken
 * at the second: another port then.
 */
export async function onOnePort<First extends Listening, Second extends Listening>(
  openFirst: () => Promise<First>,
  openSecond: (port: number) => Promise<Second>,
): Promise<readonly [First, Second]> {
  for (;;) {
    const first = await openFirst();
    try {
      return [first, await openSecond(first.port)];
    } catch (error) {
      await first.close();
      if (systemCodeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
}
