/** The outcome of an attempt to send a message to a channel. */
export interface NotificationAttempt {
  readonly channel: { readonly type: string; readonly name: string };
  /** What the message is about, on one line. */
  readonly headline: string;
  /** How many other notifications the same message contains. */
  readonly others: number;
  /** Why it was not sent; null if it was. */
  readonly error: string | null;
  /** Whether it will be tried again. */
  readonly isRetried: boolean;
}
