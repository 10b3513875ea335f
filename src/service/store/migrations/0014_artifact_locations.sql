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

-- The lateral part with its limit is looked up for each artifact by the index.
update artifacts a set run_location = known.run_location, has_result = true
from (
  select o.account_id, o.id, r.run_location
  from artifacts o
    cross join lateral (select run_location from check_results
      where account_id = o.account_id and check_id = o.check_id and id = o.result_id
      order by slot desc limit 1) r
) known
where a.account_id = known.account_id and a.id = known.id;

create index artifacts_shown_as on artifacts (account_id, (coalesce(artifact_id, id)));
create index artifacts_without_result on artifacts (created_at, account_id, id)
  where not has_result;
-- For what an account and its locations take.
create index artifacts_taken on artifacts (account_id, run_location, sha256, bytes);
create index artifact_uploads_taken on artifact_uploads (account_id, run_location, sha256, bytes);
