import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import type { InFlight } from './in-flight.ts';

/** All addresses of both families; only those of IPv4 if the system has no IPv6. */
const ALL_ADDRESSES = ['::', '0.0.0.0'] as const;
const NO_IPV6: readonly (string | null)[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * Opens the port.
 *
 * @param host the address, or null for all
 * @returns the actual port
 * @throws VedetteError `environment` PORT_TAKEN, HOST_UNKNOWN or PORT_FAILED, or `permission`
 *   PORT_FORBIDDEN
 */
export async function listen(
  app: FastifyInstance,
  { port, host }: { readonly port: number; readonly host: string | null },
): Promise<number> {
  const [first, second] = ALL_ADDRESSES;
  try {
    await app.listen({ port, host: host ?? first });
  } catch (error) {
    if (host !== null || !NO_IPV6.includes(systemCodeOf(error)))
      throw portProblem(error, port, host);
    await app.listen({ port, host: second }).catch((again: unknown) => {
      throw portProblem(again, port, host);
    });
  }
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Opens the port and closes it again, in order to report a port in use before the database is created, which
 * takes seconds. The port may still be taken afterwards.
 *
 * @throws VedetteError as `listen`
 */
export async function expectFreePort({
  port,
  host,
}: {
  readonly port: number;
  readonly host: string | null;
}): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Without a host: all addresses, as `listen`.
      server.listen({ port, ...(host === null ? {} : { host }) }, resolve);
    });
  } catch (error) {
    throw portProblem(error, port, host);
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function portProblem(error: unknown, port: number, host: string | null): VedetteError {
  const options = { cause: error };
  switch (systemCodeOf(error)) {
    case 'EADDRINUSE':
      return new VedetteError(
        'environment',
        'PORT_TAKEN',
        `port ${port} (PORT) is already in use: stop the program that listens there, or set PORT to another port, or to 0 for any free one`,
        options,
      );
    case 'EACCES':
      return new VedetteError(
        'permission',
        'PORT_FORBIDDEN',
        `port ${port} (PORT) may not be opened by this user: set PORT to a port from 1024 up`,
        options,
      );
    case 'EADDRNOTAVAIL':
      return new VedetteError(
        'environment',
        'HOST_UNKNOWN',
        `${host ?? 'the address'} (HOST) is not an address of this machine: set HOST to one that is, or unset it for all`,
        options,
      );
    default:
      return new VedetteError(
        'environment',
        'PORT_FAILED',
        `port ${port} (PORT) cannot be opened: ${messageOf(error)}`,
        options,
      );
  }
}

/**
 * Closes the HTTP server once the requests in progress have ended or the signal aborts. The port
 * stays open until then, so that probes are still answered. Never rejects.
 */
export async function closeApp(
  app: FastifyInstance,
  inFlight: InFlight,
  now: AbortSignal,
): Promise<void> {
  await inFlight.settled(now);
  const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
  // Waits for requests that arrived in the meantime.
  await inFlight.settled(now);
  // Idle connections would delay the close for as long as clients keep them.
  app.server.closeAllConnections();
  await closed;
  await app.close();
}
