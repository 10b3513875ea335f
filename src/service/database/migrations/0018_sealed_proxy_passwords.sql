-- The password in proxy_url, encrypted; there stands a mask in its place. null where proxy_url is in
-- clear: of a service without ENCRYPTION_KEY, and of the release before.
alter table private_locations add column sealed_proxy_password bytea;

create or replace function private_location_changed() returns trigger
language plpgsql as $$
begin
  if (new.proxy_url, new.sealed_proxy_password)
      is distinct from (old.proxy_url, old.sealed_proxy_password) then
    perform note_settings_change(new.account_id, new.id);
  end if;
  return null;
end $$;
