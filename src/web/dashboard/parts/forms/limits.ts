import found from '../../api/number-limits.json' with { type: 'json' };

/** Bounds of numbers and of lengths of lists in forms, from the OpenAPI document. */
export const limits = found;

/** The attributes of a control for such a number. */
export function boundsOf({ min, max }: { readonly min: number; readonly max: number }) {
  return { min, max };
}
