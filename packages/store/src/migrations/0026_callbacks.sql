-- callback: the right to end a run under one claim, by a token of which only the hash is here. A run that waits for one is running
-- under nobody's session (all zeros): no worker holds it, nothing rescues it, and its claim lasts until it is ended. due_at: when
-- somebody is to look at it; null before the run waits and after it has ended. Answered without an answer: closed, it comes too late.
-- attempt: how many tries were spent when it was made.
create table carillon.callback (
  token_hash bytea primary key,
  run_id uuid not null,
  fence bigint not null,
  attempt smallint not null,
  namespace_id int not null,
  created_at timestamptz not null,
  begun_at timestamptz,
  due_at timestamptz,
  answer json,
  answered_at timestamptz,
  constraint callback_answered check (answer is null or answered_at is not null),
  constraint callback_waits check (due_at is null or begun_at is not null)
);
create index callback_run on carillon.callback (run_id);
create index callback_due on carillon.callback (due_at) where due_at is not null;
