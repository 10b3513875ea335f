import { CHECK_FEATURES } from '../../model/check/check-features.ts';

/** `featuresNeededBy` for the check of row `c`, as text[]: the same table decides here. */
export const NEEDED_FEATURES = `array_remove(array[${Object.entries(CHECK_FEATURES)
  .map(([name, { checkType, field, unused }]) => {
    const unusedJson = `'${JSON.stringify(unused)}'::jsonb`;
    const value = `coalesce(nullif(c.body #> '{request,${field}}', 'null'), ${unusedJson})`;
    return `case when c.check_type = '${checkType}' and ${value} <> ${unusedJson} then '${name}' end`;
  })
  .join(', ')}]::text[], null)`;

/** The agent of row `a` has the features that the check of row `c` needs; earlier releases report none. */
export const HAS_FEATURES = `coalesce(a.capabilities -> 'features', '[]') ?& ${NEEDED_FEATURES}`;
