-- A node whose clock is off beyond its tolerance stays a member, and leaves the shards to the others.

alter table carillon.node add column takes_shards boolean not null default true;
