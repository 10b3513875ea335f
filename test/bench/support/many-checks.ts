/**
 * Checks of one kind, so many that they are due faster than the agent can run them: what it does
 * then is all that it can. No answer comes too late: on a busy machine some do, and are answers.
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
