/**
 * The column `body` of a stored result as the API shows it. Fields that the specification (2.4)
 * knows only with a value are left out where there is none; those that it knows as null stay.
 */
export const SHOWN_RESULT = `((body - 'agenticCheckResult'
    - case jsonb_typeof(body -> 'apiCheckResult') when 'null' then 'apiCheckResult' else '' end)
  #- case jsonb_typeof(body #> '{apiCheckResult,pcapDataUrl}')
       when 'null' then '{apiCheckResult,pcapDataUrl}' else '{}' end::text[])::text`;
