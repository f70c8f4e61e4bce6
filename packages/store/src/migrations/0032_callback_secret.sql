-- What signs callbacks to addresses: one secret for each namespace, made when the first is sent or when somebody asks for one.
create table carillon.callback_secret (
  namespace_id int primary key references carillon.namespace (id),
  secret text not null,
  old_secret text,
  old_secret_until timestamptz,
  made_at timestamptz not null default clock_timestamp(),
  check ((old_secret is null) = (old_secret_until is null))
);
