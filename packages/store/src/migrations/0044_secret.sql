-- Secrets that nodes share, made with the schema. hand_over: what nodes tell each other by NOTIFY, to which anybody who may connect can listen.
create table carillon.secret (
  name text primary key,
  value bytea not null
);

insert into carillon.secret (name, value)
values ('hand_over', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
