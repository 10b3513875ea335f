-- When a user cancelled a run on request. All attempts of the run have it, and their state is `expired` until the
-- FINAL is stored: the release before starts none of them and deletes them in time.
alter table one_off_runs add column cancelled_at timestamptz;

-- What agents still have to hear of.
create index one_off_runs_cancelled on one_off_runs (location_id, agent_id)
  where cancelled_at is not null and state = 'expired' and closed_at is null;
-- By which results are admitted.
create index one_off_runs_cancelled_check on one_off_runs (account_id, check_id) where cancelled_at is not null;

-- A cancelled run is told once when it is cancelled, and again when its result is stored.
create or replace function record_run_event() returns trigger language plpgsql as $$
begin
  perform record_event(new.account_id, 'check_run.finished', new.id, jsonb_build_object(
    'checkId', new.check_id,
    'state', case when new.cancelled_at is not null then 'cancelled' else new.state end));
  return null;
end $$;
