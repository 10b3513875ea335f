/**
 * The prefix of a command that is to run before all ordinary processes: for an agent of which a test expects
 * what it leaves out, with reason, where it gets no CPU. Needs root.
 */
export const REAL_TIME: readonly string[] = ['chrt', '--rr', '10'];
