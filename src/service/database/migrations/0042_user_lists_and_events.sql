-- Cursors of the lists of users and invitations: src/service/database/README.md, "Cursors". In the order in
-- which whoever accepts an invitation locks them.
alter table one_time_links add column list_position bigint not null default 0;
alter table one_time_links alter column list_position set default next_list_position();
alter table memberships add column list_position bigint not null default 0;
alter table memberships alter column list_position set default next_list_position();
