import type { CheckType } from '../check/model.ts';

/** Keys of an object, so that the compiler reports a missing type when the API adds one. */
export const CHECK_TYPES = Object.keys({
  URL: true,
  API: true,
  TCP: true,
  DNS: true,
  ICMP: true,
} satisfies Record<CheckType, true>) as readonly CheckType[];
