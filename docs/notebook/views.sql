-- Views over what `op export --by-day` wrote: change the directory here. Days are those of the files, in UTC.
set timezone = 'UTC';
create macro files_of(name) as table
  select '/srv/exports/' || name || '/' || file.path as path
  from (select unnest(files) as file from read_json('/srv/exports/' || name || '/manifest.json'));

-- The manifest names the files that belong together; one that an interrupted export left is not among them.
set variable sales = (select list(path) from files_of('sales'));
set variable transfers = (select list(path) from files_of('transfers'));
set variable listings = (select list(path) from files_of('listings'));
set variable bids = (select list(path) from files_of('bids'));
set variable floors = (select list(path) from files_of('floors'));

create view sales as
select *, block_timestamp::date as day from read_parquet(getvariable('sales'), hive_partitioning = true);
create view transfers as
select *, block_timestamp::date as day from read_parquet(getvariable('transfers'), hive_partitioning = true);
create view listings as
select *, created_at::date as day from read_parquet(getvariable('listings'), hive_partitioning = true);
create view bids as
select *, created_at::date as day from read_parquet(getvariable('bids'), hive_partitioning = true);
create view floors as
select *, since::date as day from read_parquet(getvariable('floors'), hive_partitioning = true);
