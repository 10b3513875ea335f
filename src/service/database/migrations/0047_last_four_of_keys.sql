-- With the prefix they tell keys of one name apart. null for keys that exist: only their hash is stored.
alter table api_keys add column key_last_four text;
alter table location_keys add column key_last_four text;
