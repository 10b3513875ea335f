-- How many messages have failed because of the receiver since the last one that arrived: time alone
-- removes no subscriber.
alter table status_page_subscribers add column failures integer not null default 0;
