-- In a file of its own: it takes a while, and channels are read and written meanwhile.
-- The checks that depend on a check are named in its messages.
create index checks_depending on checks using gin ((body -> 'dependsOn')) where body -> 'dependsOn' <> '[]'::jsonb;
