/**
 * A command prefix that sets real-time priority: for an agent whose test checks behaviour that it
 * rightly omits under CPU starvation. Needs root.
 */
export const REAL_TIME: readonly string[] = ['chrt', '--rr', '10'];
