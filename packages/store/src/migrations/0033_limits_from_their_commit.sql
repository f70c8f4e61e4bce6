-- Limits of queues and namespaces hold from the commit that sets them.
insert into carillon.revision (name) values ('limits');

-- Who claims for the session must know the limits of queues and namespaces as of this revision.
alter table carillon.worker_session add column limits_revision bigint not null default 0;

-- False: the limit was set while runs were at work, and has no room until they are counted.
alter table carillon.limit_key add column is_counted boolean not null default true;

create index queue_limited on carillon.queue (namespace_id, name) where limits is not null;
