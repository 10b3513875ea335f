-- The password with which readers open a private page, as scrypt in the PHC string format; null without one.

alter table status_pages add column password_hash text;
