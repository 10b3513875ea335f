import type { FamilyChoice, IpFamily } from '../../enums.ts';
import type { CheckDetail, FamiliesDetail } from './check-detail.ts';

/** Milliseconds since the attempt's start. */
export interface IcmpTimings {
  readonly lookup: number;
  readonly end: number;
}

/** Durations in milliseconds. */
export interface IcmpTimingPhases {
  readonly dns: number;
  readonly total: number;
}

export interface IcmpResponse {
  readonly hostname: string;
  readonly resolvedIp: string;
  readonly ipFamily: IpFamily;
  readonly pingCount: number;
  readonly packetsSent: number;
  readonly packetsReceived: number;
  /** Percent. */
  readonly packetLoss: number;
  /** Milliseconds. */
  readonly dnsResolutionTime: number;
  /** Milliseconds; null if no reply came. */
  readonly latency: Readonly<Record<'avg' | 'min' | 'max' | 'stdDev', number | null>>;
  readonly pingResults: readonly {
    readonly sequence: number;
    readonly success: boolean;
    /** Milliseconds; null without a reply. */
    readonly rtt: number | null;
    readonly ttl: number | null;
  }[];
}

export type IcmpDetail = CheckDetail<
  { hostname: string; pingCount: number; ipFamily: FamilyChoice },
  IcmpResponse
> &
  FamiliesDetail & { readonly timings: IcmpTimings; readonly timingPhases: IcmpTimingPhases };
