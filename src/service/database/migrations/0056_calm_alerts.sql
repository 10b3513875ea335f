-- The checks that depend on a check are named in its messages.
create index checks_depending on checks using gin ((body -> 'dependsOn')) where body -> 'dependsOn' <> '[]'::jsonb;
