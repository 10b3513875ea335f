import { CHECK_FEATURES } from '../../model/check/check-features.ts';

/** `featuresNeededBy` for the check of row `c`, as text[]: the same table decides here. */
export const NEEDED_FEATURES = `array_remove(array[${Object.entries(CHECK_FEATURES)
  .map(([name, { checkTypes, field, unused }]) => {
    const types = checkTypes.map((each) => `'${each}'`).join(', ');
    const [byDefault, ...others] = unused.map((each) => `'${JSON.stringify(each)}'::jsonb`);
    const value = `coalesce(nullif(c.body #> '{request,${field}}', 'null'), ${byDefault})`;
    const isUsed = `${value} not in (${[byDefault, ...others].join(', ')})`;
    return `case when c.check_type in (${types}) and ${isUsed} then '${name}' end`;
  })
  .join(', ')}]::text[], null)`;

/** The agent of row `a` has the features that the check of row `c` needs; earlier releases report none. */
export const HAS_FEATURES = `coalesce(a.capabilities -> 'features', '[]') ?& ${NEEDED_FEATURES}`;
