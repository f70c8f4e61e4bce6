-- Calls that a caller may repeat. A row is there from the beginning of the call; calls without a key touch none.
-- token: whoever works on it. effect: written in the transaction that does what the call asks for. answer: what was sent.
create table carillon.idempotency_key (
  namespace_id integer not null,
  caller text not null,
  key text not null,
  request text not null,
  token uuid not null,
  begun_at timestamptz not null,
  expires_at timestamptz not null,
  effect json,
  answer json,
  primary key (namespace_id, caller, key)
);
create index idempotency_key_expiry on carillon.idempotency_key (expires_at);
