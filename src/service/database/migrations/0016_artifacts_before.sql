-- Artifacts of before belong to the location of their result. In a file of its own: it may take
-- minutes, and the release before goes on uploading meanwhile.
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
