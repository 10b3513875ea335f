import { CHECK_FEATURES, type CheckFeature } from '../../model/check/check-features.ts';
import { PATTERN_FLAGS } from '../../model/check/expressions.ts';

/** The group in the body, which trials have too. The group may have been deleted. */
const GROUP_ID = `(c.body ->> 'groupId')::bigint`;

/** `featuresNeededBy` in SQL for the check of row `c`, as text[], derived from the same table. */
export const NEEDED_FEATURES = `array_remove(array[${Object.entries(CHECK_FEATURES)
  .map(([name, feature]) => {
    const types = feature.checkTypes.map((each) => `'${each}'`).join(', ');
    return `case when c.check_type in (${types}) and (${usesOf(feature)}) then '${name}' end`;
  })
  .join(', ')}]::text[], null)`;

function usesOf(feature: (typeof CHECK_FEATURES)[CheckFeature]): string {
  if ('sharedFields' in feature) {
    const names = feature.sharedFields;
    const own = names.map((name) => `c.body ->> '${name}' is not null`);
    const ofGroup = names.map((name) => `fg.${columnOf(name)} is not null`).join(' or ');
    const group = `exists (select from check_groups fg where fg.id = ${GROUP_ID} and (${ofGroup}))`;
    return [...own, `${GROUP_ID} is not null and ${group}`].join(' or ');
  }
  if ('ownField' in feature) {
    return `c.body -> '${feature.ownField}' = '${JSON.stringify(feature.used)}'::jsonb`;
  }
  if ('patternFields' in feature) {
    const hasFlags = `like_regex "^[(][?][${PATTERN_FLAGS}]+[)]"`;
    return feature.patternFields
      .map(([list, field]) => `c.body @? '$.request.${list}[*].${field} ? (@ ${hasFlags})'`)
      .join(' or ');
  }
  if ('listValue' in feature) {
    const [list, field, value] = feature.listValue;
    return `c.body @? '$.request.${list}[*].${field} ? (@ == "${value}")'`;
  }
  const { field, unused } = feature;
  const [byDefault, ...others] = unused.map((each) => `'${JSON.stringify(each)}'::jsonb`);
  const value = `coalesce(nullif(c.body #> '{request,${field}}', 'null'), ${byDefault})`;
  return `${value} not in (${[byDefault, ...others].join(', ')})`;
}

/** A field of groups has a column. */
function columnOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The agent of row `a` has the features that the check of row `c` needs; earlier releases report none. */
export const HAS_FEATURES = `coalesce(a.capabilities -> 'features', '[]') ?& ${NEEDED_FEATURES}`;

const HAS_SENT_SCRIPTS = `c.check_type = 'API' and (${GROUP_ID} is not null
  or c.body ->> 'setupSnippetId' is not null or c.body ->> 'teardownSnippetId' is not null)`;

/**
 * All scripts that the check of row `c` runs, including those in its body; null if all of them are in its body.
 */
export const SENT_SCRIPTS = `case when ${HAS_SENT_SCRIPTS}
  then check_scripts(c.account_id, c.body, ${GROUP_ID}) end`;

/** An estimate of their bytes in a message, without reading them: JSON escapes some characters. */
export const SENT_SCRIPTS_BYTES = `case when ${HAS_SENT_SCRIPTS}
  then 2 * check_scripts_bytes(c.account_id, c.body, ${GROUP_ID}) else 0 end`;
