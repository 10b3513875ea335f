-- The ETag of the first response, which a repeated request gets again; null if it had none.
alter table idempotency_keys add column etag text;
