/**
 * The slugs of the private locations at which a check (`c`) runs, as JSON: those of its group (`g`, left
 * joined) if that names any, else its own.
 */
export const PRIVATE_LOCATIONS_IN_FORCE = `(case when slugs_or_none(g.private_locations) = '[]'
  then slugs_or_none(c.body -> 'privateLocations') else g.private_locations end)`;

/** Also includes the public locations that the check names. */
export const CHECK_LOCATIONS = `${PRIVATE_LOCATIONS_IN_FORCE}
  || slugs_or_none(c.body -> 'locations')`;

/** Like CHECK_LOCATIONS, but empty for a heartbeat, which does not run. */
export const CHECK_RUN_LOCATIONS = `case when c.check_type = 'HEARTBEAT' then '[]'::jsonb
  else ${CHECK_LOCATIONS} end`;
