import type { AlertType } from '../../model/alerting/alert.ts';
import type { CheckType } from '../../model/vocabulary.ts';
import type { Sql } from '../database/port.ts';

/** What a check's subscribers are to hear. */
export interface AlertNotice {
  readonly alertId: string;
  readonly alertType: AlertType;
  /** Epoch milliseconds: when the alert was given. */
  readonly atMs: number;
  readonly check: {
    readonly id: string;
    readonly name: string;
    readonly checkType: CheckType;
    readonly tags: readonly string[];
    readonly groupName: string | null;
  };
  readonly runLocation: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Epoch milliseconds: when the run that led to it began. */
  readonly startedAtMs: number;
  /** Whole days; null where no certificate was seen. */
  readonly sslDaysRemaining: number | null;
  /** 0 for the notice itself, then 1, 2, … for those that remind of it. */
  readonly reminder: number;
}

/** Keeps what is to be sent. */
export interface Outbox {
  /**
   * In the transaction that gives the alerts: one row for each subscribed channel that wants it.
   * Checks are locked meanwhile.
   */
  put(tx: Sql, accountId: string, notices: readonly AlertNotice[]): Promise<void>;
}
