import type { CheckType } from '../check/model.ts';

/** Keys of an object, so that the compiler misses one that the API adds. */
export const CHECK_TYPES = Object.keys({
  URL: true,
  API: true,
  TCP: true,
  DNS: true,
  ICMP: true,
} satisfies Record<CheckType, true>) as readonly CheckType[];
