import { PassThrough } from 'node:stream';
import { createLogger, type Logger } from '../../../src/runtime/logger.ts';
import type { StoreConfig } from '../../../src/service/database/open-store.ts';

/** A log without output. */
export function silentLog(): Logger {
  const destination = new PassThrough();
  destination.resume();
  return createLogger({ level: 'error', destination, format: 'json' });
}

export function storeConfig(part: Partial<StoreConfig> = {}): StoreConfig {
  return {
    databaseUrl: null,
    dataDir: null,
    poolSize: 5,
    statementTimeoutMs: 10_000,
    ...part,
  };
}
