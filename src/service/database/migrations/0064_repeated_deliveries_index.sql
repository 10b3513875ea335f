-- In a file of its own: it takes a while, and deliveries are claimed meanwhile.
-- The open alerts that wait to be sent again: few among many new notices after an outage, and looked for with each claim.
create index alert_deliveries_repeats on alert_deliveries (greatest(due_at, digest_at), seq)
  where finished_at is null and notice ? 'isRepeated';
