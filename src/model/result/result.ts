import type { RunnableCheckType } from '../enums.ts';
import type { DnsDetail } from './details/dns-detail.ts';
import type { HttpDetail } from './details/http-detail.ts';
import type { IcmpDetail } from './details/icmp-detail.ts';
import type { TcpDetail } from './details/tcp-detail.ts';

/** Results: src/model/README.md, "Results". All times in milliseconds. */

export type ResultType = 'FINAL' | 'ATTEMPT';

/** One attempt of one run: src/model/README.md, "Results", with the details of the check's type. */
export interface CheckResult {
  readonly resultType: ResultType;
  readonly id: string;
  readonly name: string;
  readonly checkId: string;
  readonly checkType: RunnableCheckType;
  readonly hasFailures: boolean;
  readonly hasErrors: boolean;
  readonly isDegraded: boolean;
  readonly isCancelled: boolean;
  readonly overMaxResponseTime: boolean;
  readonly runLocation: string;
  /** ISO 8601, like the two after it. */
  readonly startedAt: string;
  readonly stoppedAt: string;
  readonly created_at: string;
  readonly responseTime: number;
  readonly apiCheckResult: HttpDetail | null;
  readonly tcpCheckResult: TcpDetail | null;
  readonly dnsCheckResult: DnsDetail | null;
  readonly icmpCheckResult: IcmpDetail | null;
  readonly browserCheckResult: null;
  readonly multiStepCheckResult: null;
  readonly agenticCheckResult: null;
  /** The slot in epoch milliseconds. */
  readonly checkRunId: number;
  /** FINAL: retries made. ATTEMPT: attempts that came before this one. */
  readonly attempts: number;
  readonly sequenceId: string;
  readonly errorGroupIds: readonly string[];
}
