-- What an agent reports about itself with its polls; null from agents that do not report it.
alter table agents add column health jsonb;

-- An agent of a location begins or ceases to poll. Renewals, which are most updates, are no events.
create function record_agent_event() returns trigger language plpgsql as $$
begin
  -- The agents of a deleted location go with it.
  if exists (select from private_locations where id = new.location_id) then
    perform record_event(new.account_id,
      case when new.lease_until is null then 'location.agent_offline' else 'location.agent_online' end,
      new.location_id, jsonb_build_object('agentId', new.id));
  end if;
  return null;
end $$;
create trigger agents_event after insert on agents for each row
  when (new.lease_until is not null) execute function record_agent_event();
create trigger agents_update_event after update on agents for each row
  when ((new.lease_until is null) is distinct from (old.lease_until is null))
  execute function record_agent_event();
