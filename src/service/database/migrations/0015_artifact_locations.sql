-- An artifact belongs to the location that uploaded it, named by its slug as in results. Two
-- locations may each have one for the same result and name: `artifact_id` is what results and the
-- API call it, and `id` is the row's. It is the same where no other location was first, so that the
-- release before finds the artifact.
alter table artifacts
  -- null: taken by the release before, which did not note the uploader, for a result that had not
  -- come yet.
  add column run_location text,
  -- null in rows of the release before, where it is the same as `id`.
  add column artifact_id text,
  -- A result of the location has been seen. false: perhaps it has come since.
  add column has_result boolean not null default false;
-- null: begun at a replica of the release before.
alter table artifact_uploads add column run_location text;
