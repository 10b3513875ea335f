import type { ErrorCode, Failure } from '../../../../model/result/error-codes.ts';
import type { SourceStatus } from './nsswitch.ts';

/** What one source of names (hosts file, DNS, the C library) found for a host name. */
export type SourceResult = Found | Missed | Aborted;

export interface Found {
  readonly kind: 'found';
  readonly addresses: readonly [string, ...string[]];
}

/** Another source may still know the name: nsswitch.conf decides, by `status`. */
export interface Missed {
  readonly kind: 'missed';
  readonly status: SourceStatus;
  readonly failure: Failure;
}

/** No other source is queried: the look-up was cancelled, or an internal fault ended it. */
export interface Aborted {
  readonly kind: 'aborted';
  readonly failure: Failure;
}

export function foundOrNull(addresses: readonly string[]): Found | null {
  const [first, ...rest] = addresses;
  return first === undefined ? null : { kind: 'found', addresses: [first, ...rest] };
}

const STATUS_OF_CODE: Partial<Record<ErrorCode, SourceStatus>> = {
  DNS_NXDOMAIN: 'NOTFOUND',
  DNS_NO_ADDRESS: 'NOTFOUND',
  DNS_TIMEOUT: 'TRYAGAIN',
  DNS_SERVFAIL: 'TRYAGAIN',
};

/** Codes that are not in the table mean that the source could not be used. */
export function lookupFailure(failure: Failure): Missed | Aborted {
  if (failure.code === 'CANCELLED' || failure.code === 'INTERNAL_ERROR') {
    return { kind: 'aborted', failure };
  }
  return { kind: 'missed', status: STATUS_OF_CODE[failure.code] ?? 'UNAVAIL', failure };
}
