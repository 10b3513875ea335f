import type { Check } from '../../model/check.ts';
import type { ClientCertificate } from '../../model/client-certificate.ts';

/** What is to be run from now on. */
export interface CheckSet {
  readonly checks: readonly Check[];
  readonly clientCertificates: readonly ClientCertificate[];
}

/** Where checks come from: a file that is watched, or a service that is polled. */
export interface CheckSource {
  /**
   * Whether the check file could be used when it was last read: where not, the checks of an older
   * one go on. null before it was first read, and where checks come from no file.
   */
  readonly checkFileUsable: boolean | null;
  /** Calls back with every new valid set, the first one included, until the signal aborts. */
  watch(onCheckSet: (set: CheckSet) => void, signal: AbortSignal): Promise<void>;
}
