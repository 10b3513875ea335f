-- Setup and teardown scripts: src/model/README.md, "Setup and teardown scripts". Checks have theirs in their body.
alter table check_groups
  add column setup_script text,
  add column teardown_script text,
  add column setup_snippet_id bigint,
  add column teardown_snippet_id bigint;

-- The scripts of an API check with those of its group, and with the texts of snippets, in the order in which they run
-- before the request and after the response.
create function check_sources(of_account text, body jsonb, of_group bigint)
returns table (n integer, stage text, owner text, source text)
language sql stable as $$
  with given as (
    select 1 as n, 'setup' as stage, 'group' as owner, g.setup_script as script, g.setup_snippet_id as snippet
    from check_groups g where g.account_id = of_account and g.id = of_group
    union all
    select 2, 'setup', 'check', body ->> 'setupScript', (body ->> 'setupSnippetId')::bigint
    union all
    select 3, 'teardown', 'check', body ->> 'teardownScript', (body ->> 'teardownSnippetId')::bigint
    union all
    select 4, 'teardown', 'group', g.teardown_script, g.teardown_snippet_id
    from check_groups g where g.account_id = of_account and g.id = of_group
  )
  select n, stage, owner, coalesce(script, (
    select s.script from snippets s where s.account_id = of_account and s.id = snippet))
  from given;
$$;

-- The same as agents get them. null if there are none and the check names no snippet.
create function check_scripts(of_account text, body jsonb, of_group bigint) returns jsonb
language sql stable as $$
  select case when count(*) > 0 or coalesce(body ->> 'setupSnippetId', body ->> 'teardownSnippetId') is not null
  then jsonb_build_object(
    'setup', coalesce(jsonb_agg(jsonb_build_object('owner', owner, 'source', source) order by n)
      filter (where stage = 'setup'), '[]'::jsonb),
    'teardown', coalesce(jsonb_agg(jsonb_build_object('owner', owner, 'source', source) order by n)
      filter (where stage = 'teardown'), '[]'::jsonb)) end
  from check_sources(of_account, body, of_group) where coalesce(source, '') <> '';
$$;

-- The bytes of the texts of the same, without reading them.
create function check_scripts_bytes(of_account text, body jsonb, of_group bigint) returns bigint
language sql stable as $$
  select coalesce(sum(octet_length(source)), 0)::bigint from check_sources(of_account, body, of_group);
$$;

create index checks_setup_snippet on checks (account_id, ((body ->> 'setupSnippetId')::bigint))
  where body ->> 'setupSnippetId' is not null;
create index checks_teardown_snippet on checks (account_id, ((body ->> 'teardownSnippetId')::bigint))
  where body ->> 'teardownSnippetId' is not null;

-- The API checks of a group, or those that run a snippet, change for their agents. In triggers, so that no path that
-- writes groups or snippets can forget it.
create function note_changed_scripts(check_ids text[], of_account text) returns void
language plpgsql as $$
begin
  if check_ids is null then return; end if;
  update checks set revision = revision + 1 where account_id = of_account and id = any (check_ids);
  perform note_location_changes(of_account,
    slugs_or_none(c.body -> 'privateLocations') || slugs_or_none(g.private_locations), c.id)
  from checks c left join check_groups g on g.id = c.group_id
  where c.account_id = of_account and c.id = any (check_ids);
  perform pg_notify('vedette_changes', '');
end $$;

create function group_scripts_changed() returns trigger language plpgsql as $$
begin
  perform note_changed_scripts(
    (select array_agg(id) from checks
     where account_id = new.account_id and group_id = new.id and check_type = 'API'), new.account_id);
  return null;
end $$;
create trigger group_scripts_changed after update on check_groups for each row
  when ((new.setup_script, new.teardown_script, new.setup_snippet_id, new.teardown_snippet_id)
    is distinct from (old.setup_script, old.teardown_script, old.setup_snippet_id, old.teardown_snippet_id))
  execute function group_scripts_changed();

-- The API checks that run a snippet, themselves or in their group.
create function checks_of_snippet(of_account text, snippet bigint) returns setof text
language sql stable as $$
  -- Each part has an index of its own.
  select id from checks
  where account_id = of_account and check_type = 'API' and body ->> 'setupSnippetId' is not null
    and (body ->> 'setupSnippetId')::bigint = snippet
  union
  select id from checks
  where account_id = of_account and check_type = 'API' and body ->> 'teardownSnippetId' is not null
    and (body ->> 'teardownSnippetId')::bigint = snippet
  union
  select c.id from check_groups g join checks c on c.account_id = g.account_id and c.group_id = g.id
  where g.account_id = of_account and snippet in (g.setup_snippet_id, g.teardown_snippet_id)
    and c.check_type = 'API';
$$;

create function snippet_changed() returns trigger language plpgsql as $$
begin
  perform note_changed_scripts(
    (select array_agg(id) from checks_of_snippet(new.account_id, new.id) as id), new.account_id);
  return null;
end $$;
create trigger snippet_changed after update of script on snippets for each row
  when (new.script is distinct from old.script)
  execute function snippet_changed();
