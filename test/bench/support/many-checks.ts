/**
 * Checks of one kind, each due once a second: with more than the agent can run, its rate is its
 * limit. They have no thresholds, because on a busy machine some responses are late.
 */
export function manyChecks(perSecond: number, requestOf: (n: number) => object): object[] {
  return Array.from({ length: perSecond }, (_, n) => ({
    name: `Check ${n}`,
    frequency: 1,
    degradedResponseTime: null,
    maxResponseTime: null,
    ...requestOf(n),
  }));
}
