create table transfer (id text primary key, number integer not null, hash text not null, log_index integer not null,
                       token_id numeric not null, "from" text not null, "to" text not null);
create table counter (id text primary key, number integer not null, hash text not null, log_index integer not null);
create table sale (id text primary key, hash text not null, token_id numeric not null, price numeric not null,
                   seller text not null, buyer text not null);
create table token (id text primary key, owner text not null, number integer not null);
create index on token (owner);
