/** How checks can be grouped. A check counts for each of its tags, and for each of its locations. */
export const BREAKDOWNS = ['tag', 'group', 'location'] as const;
export type BreakdownBy = (typeof BREAKDOWNS)[number];
