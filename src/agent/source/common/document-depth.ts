/** How deep the values of a check file may be nested. */
export const MAX_DEPTH = 50;
