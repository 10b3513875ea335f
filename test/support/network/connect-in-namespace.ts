import { fileURLToPath } from 'node:url';
import type { ConnectTarget } from '../../../src/agent/net/connect.ts';
import type { IpFamily } from '../../../src/model/enums.ts';
import type { ErrorCode } from '../../../src/model/result/error-codes.ts';
import type { NetworkNamespace } from './network-namespace.ts';

export interface ConnectOptions {
  readonly targets: readonly ConnectTarget[];
  /** The addresses of names; other targets are address literals. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Where to listen meanwhile. */
  readonly listen?: readonly { readonly host: string; readonly port: number }[];
  /** Leave no file descriptor for the connections. */
  readonly useUpDescriptors?: boolean;
}

export interface ConnectReport {
  readonly code: ErrorCode | null;
  readonly message: string | null;
  readonly address: string | null;
  readonly ipFamily: IpFamily | null;
  readonly log: readonly string[];
}

const DRIVER = fileURLToPath(new URL('connect-driver.mjs', import.meta.url));
/** Enough for Node itself, and soon exhausted. */
const MAX_DESCRIPTORS = 200;

/** Lets the agent's own code, from dist, connect to targets inside the namespace. */
export function connectInside(
  namespace: NetworkNamespace,
  options: ConnectOptions,
): readonly ConnectReport[] {
  const limited = `ulimit -n ${MAX_DESCRIPTORS}; exec "$0" "$@"`;
  const node = [process.execPath, DRIVER, JSON.stringify(options)];
  return JSON.parse(namespace.run('sh', '-c', limited, ...node)) as readonly ConnectReport[];
}
