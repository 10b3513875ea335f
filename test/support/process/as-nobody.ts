/** The user and the group that own nothing. */
export const NOBODY = 65_534;

/** Runs it as a user who may not change root's files. Root only. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([NOBODY]);
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  }
}
