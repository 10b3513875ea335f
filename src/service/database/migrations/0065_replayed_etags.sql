-- The ETag of the first response, which a repeated request gets again; null if it had none. A
-- replica of the release before leaves the value when it takes over the row of an expired key.
alter table idempotency_keys add column etag text;
