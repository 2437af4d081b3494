create schema log;

create schema ops;

create schema engine;

create table log.block (
  block_id bigint not null,
  chain_id integer not null,
  number bigint not null,
  hash bytea not null,
  "timestamp" timestamp with time zone not null,
  constraint block_pkey PRIMARY KEY (block_id),
  constraint block_chain_id_hash_key UNIQUE (chain_id, hash),
  constraint block_id_holds_number CHECK ((((block_id >> 12) & '4294967295'::bigint) = number))
);
comment on table log.block is 'Blocks that hold facts, of every branch seen. block_id = ordinal of the chain << 44 | number << 12 | fork.';

create table log.chain (
  chain_id integer not null,
  ordinal integer not null,
  constraint chain_pkey PRIMARY KEY (chain_id),
  constraint chain_ordinal_key UNIQUE (ordinal),
  constraint chain_ordinal_check CHECK (((ordinal >= 1) AND (ordinal < (1 << 19))))
);
comment on table log.chain is 'The number of each chain in ids of blocks. Never changed.';

create table log.contract (
  contract_id integer generated always as identity,
  chain_id integer not null,
  address bytea not null,
  constraint contract_pkey PRIMARY KEY (contract_id),
  constraint contract_chain_id_address_key UNIQUE (chain_id, address)
);

create table log.contract_alias (
  chain_id integer not null,
  address bytea not null,
  stands_for bytea not null,
  constraint contract_alias_pkey PRIMARY KEY (chain_id, address)
);
comment on table log.contract_alias is 'Adapters that orders name in place of the NFT contract whose tokens they move.';

create table log.fact (
  "position" bigint not null,
  block_id bigint,
  transaction_index integer,
  log_index integer,
  contract_id integer,
  sub_index integer,
  kind smallint not null,
  token_id numeric(78,0),
  amount numeric(78,0),
  from_address bytea,
  to_address bytea,
  order_hash bytea,
  identity bytea,
  recorded_at timestamp with time zone,
  payload jsonb,
  constraint fact_pkey PRIMARY KEY ("position") with (fillfactor=100)
) partition by RANGE ("position");
CREATE INDEX fact_bid ON log.fact USING btree (contract_id, token_id, block_id, log_index) WHERE (kind = 36);
CREATE INDEX fact_block_state ON log.fact USING btree (block_id, "position") WHERE (kind = ANY (ARRAY[1, 2]));
CREATE INDEX fact_channel ON log.fact USING btree (contract_id, to_address) WHERE (kind = ANY (ARRAY[40, 80]));
CREATE INDEX fact_clock ON log.fact USING btree (amount DESC) WHERE (kind = 81);
CREATE INDEX fact_maker ON log.fact USING btree (from_address, contract_id, kind, block_id) WHERE (kind = ANY (ARRAY[20, 21, 22, 24, 32, 72, 73, 76, 77]));
CREATE INDEX fact_metadata ON log.fact USING btree (contract_id, token_id) WHERE (kind = ANY (ARRAY[13, 92, 93, 94]));
CREATE INDEX fact_observation ON log.fact USING btree (block_id) WHERE ((log_index IS NULL) AND (kind <> ALL (ARRAY[1, 2])));
CREATE INDEX fact_operator_action ON log.fact USING btree ("position") WHERE (kind = ANY (ARRAY[97, 98]));
CREATE INDEX fact_order ON log.fact USING btree (order_hash, kind) WHERE (order_hash IS NOT NULL);
CREATE INDEX fact_payee ON log.fact USING btree (to_address, contract_id, block_id) WHERE (kind = ANY (ARRAY[22, 23]));
CREATE INDEX fact_pool ON log.fact USING btree (to_address) WHERE (kind = 37);
CREATE INDEX fact_quarantine ON log.fact USING btree ("position") WHERE (kind = ANY (ARRAY[95, 96]));
CREATE INDEX fact_signature_reading ON log.fact USING btree (order_hash, kind, block_id) WHERE (kind = ANY (ARRAY[79, 82]));
CREATE INDEX fact_submission ON log.fact USING btree ("position") WHERE (kind = 70);
CREATE INDEX fact_submission_contract ON log.fact USING btree (contract_id, "position") WHERE (kind = 70);
CREATE INDEX fact_submission_maker ON log.fact USING btree (from_address, "position") WHERE (kind = 70);
CREATE INDEX fact_submission_token ON log.fact USING btree (contract_id, token_id, "position") WHERE (kind = 70);
CREATE INDEX fact_token ON log.fact USING btree (contract_id, token_id, block_id, log_index, sub_index) WHERE (kind = ANY (ARRAY[10, 12]));
CREATE INDEX fact_token_approval ON log.fact USING btree (contract_id, token_id, block_id) WHERE (kind = 83);
CREATE INDEX fact_token_range ON log.fact USING btree (contract_id, token_id) WHERE (kind = 11);
CREATE INDEX fact_token_reading ON log.fact USING btree (contract_id, token_id, kind, from_address, block_id) WHERE (kind = ANY (ARRAY[74, 75, 78]));
CREATE INDEX fact_transfer_contract ON log.fact USING btree (contract_id, block_id, log_index, sub_index) WHERE (kind = ANY (ARRAY[10, 11, 12]));
CREATE INDEX fact_transfer_from ON log.fact USING btree (hashbyteaextended(from_address, (0)::bigint), block_id, log_index, sub_index) WHERE ((kind = ANY (ARRAY[10, 11, 12])) AND (from_address <> '\x0000000000000000000000000000000000000000'::bytea));
CREATE INDEX fact_transfer_range ON log.fact USING btree (contract_id, block_id, log_index, sub_index) WHERE (kind = 11);
CREATE INDEX fact_transfer_to ON log.fact USING btree (hashbyteaextended(to_address, (0)::bigint), block_id, log_index, sub_index) WHERE ((kind = ANY (ARRAY[10, 11, 12])) AND ((from_address = '\x0000000000000000000000000000000000000000'::bytea) OR (NOT (to_address = ANY (ARRAY['\x0000000000000000000000000000000000000000'::bytea, '\x000000000000000000000000000000000000dead'::bytea])))));

create table log.head (
  singleton boolean default true not null,
  "position" bigint not null,
  partition_size bigint default 20000000 not null,
  partitions_end bigint not null,
  analyzed_position bigint default 0 not null,
  constraint head_pkey PRIMARY KEY (singleton),
  constraint head_partition_size_check CHECK ((partition_size >= 4)),
  constraint head_position_check CHECK (("position" >= 0)),
  constraint head_singleton_check CHECK (singleton)
);
comment on table log.head is 'The position of the last fact. Appenders lock its row; so positions are dense and in commit order.';
comment on column log.head.partition_size is 'Positions of a partition of log.fact. Every border between two is a multiple of it.';
comment on column log.head.partitions_end is 'The first position behind the last partition.';
comment on column log.head.analyzed_position is 'The last fact when statistics over all partitions were gathered.';

create table log.transaction (
  block_id bigint not null,
  transaction_index integer not null,
  hash bytea not null,
  constraint transaction_pkey PRIMARY KEY (block_id, transaction_index)
);
CREATE INDEX transaction_hash ON log.transaction USING hash (hash);

create table log.transaction_part (
  "position" bigint not null,
  constraint transaction_part_pkey PRIMARY KEY ("position")
);
comment on table log.transaction_part is 'Facts that were appended later than the one before them, though both are of one transaction.';

create table ops.analyst (
  role text not null,
  timeout_seconds integer not null,
  constraint analyst_pkey PRIMARY KEY (role),
  constraint analyst_timeout_seconds_check CHECK ((timeout_seconds > 0))
);
comment on column ops.analyst.timeout_seconds is 'Seconds that a transaction of the role may last.';

create table ops.analytics_engine (
  engine text not null,
  "position" bigint not null,
  synced_at timestamp with time zone,
  failed_at timestamp with time zone,
  error text,
  constraint analytics_engine_pkey PRIMARY KEY (engine)
);
comment on table ops.analytics_engine is 'How far each engine is, and how its last sync ended';
comment on column ops.analytics_engine.error is 'Of the last sync; null: it did not fail';

create table ops.appendable_kind (
  role text not null,
  kind smallint not null,
  constraint appendable_kind_pkey PRIMARY KEY (role, kind)
);

create table ops.audit (
  chain_id integer not null,
  command text not null,
  next_number bigint not null,
  last_number bigint not null,
  findings jsonb not null,
  updated_at timestamp with time zone not null,
  constraint audit_pkey PRIMARY KEY (chain_id, command)
);
comment on table ops.audit is 'Comparisons of the log with a chain that have not come to their end.';

create table ops.blocked_maker (
  address bytea not null,
  reason text,
  blocked_at timestamp with time zone default now() not null,
  constraint blocked_maker_pkey PRIMARY KEY (address)
);

create table ops.chain_finality (
  chain_id integer not null,
  number bigint not null,
  said_by text not null,
  deepest bigint default 0 not null,
  updated_at timestamp with time zone default now() not null,
  constraint chain_finality_pkey PRIMARY KEY (chain_id),
  constraint chain_finality_said_by_check CHECK ((said_by = ANY (ARRAY['tag'::text, 'depth'::text])))
);
comment on table ops.chain_finality is 'Highest block of each chain that is final: by the finalized tag of its nodes, or by depth where no node serves it. deepest: the most blocks that the tag was seen below the head. Never lower than before.';

create table ops.history_proof (
  chain_id integer not null,
  sources text not null,
  first_number bigint not null,
  proved_from bigint not null,
  proved_to bigint not null,
  parent_hash text not null,
  head_hash text not null,
  evidence text,
  sampled bigint default 0 not null,
  repaired bigint default 0 not null,
  differing bigint[] default '{}'::bigint[] not null,
  repaired_at timestamp with time zone,
  updated_at timestamp with time zone default now() not null,
  constraint history_proof_pkey PRIMARY KEY (chain_id),
  constraint history_proof_evidence_check CHECK ((evidence = ANY (ARRAY['receipts'::text, 'blooms'::text])))
);
comment on table ops.history_proof is 'Blocks of each chain whose receipts made the root of their header, and whose events the log holds: from proved_from to proved_to without a gap. sampled: blocks below these that were proved alone.';
comment on column ops.history_proof.differing is 'Blocks that could not be mended; each is compared again until it agrees.';

create table ops.holder_snapshot (
  number integer generated always as identity,
  snapshot_id bytea not null,
  name text not null,
  chain_id integer not null,
  block_number bigint not null,
  block_hash bytea,
  block_at timestamp with time zone,
  min_units numeric(78,0) not null,
  terms jsonb not null,
  root bytea not null,
  holders integer not null,
  units numeric(78,0) not null,
  tree bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint holder_snapshot_pkey PRIMARY KEY (number),
  constraint holder_snapshot_snapshot_id_key UNIQUE (snapshot_id)
);
comment on table ops.holder_snapshot is 'Who held tokens at final blocks, stored for good: contracts verify claims by the root.';
comment on column ops.holder_snapshot.snapshot_id is 'Hash of the terms with name, chain and block.';
comment on column ops.holder_snapshot.block_hash is 'Null, as block_at: nothing indexed happened in the block.';
comment on column ops.holder_snapshot.tree is 'Nodes of 32 bytes, the root first. Hashes do not compress, so that a proof reads its own alone.';

create table ops.indexer (
  chain_id integer not null,
  ponder_schema text not null,
  started_at timestamp with time zone not null,
  generation integer default 0 not null,
  name text default 'core'::text not null,
  caught_up_at timestamp with time zone,
  blocks_per_second double precision,
  constraint indexer_pkey PRIMARY KEY (chain_id, name)
);
comment on table ops.indexer is 'The indexers of each chain: a Ponder process and its schema, which is recorded. A changed configuration is indexed into a new schema; it stands here once it has caught up.';
comment on column ops.indexer.generation is 'Raised to index a chain anew: it is part of the name of the schema of Ponder.';
comment on column ops.indexer.caught_up_at is 'When it first followed new blocks; null: it is catching up.';

create table ops.job (
  name text not null,
  part text not null,
  runs bigint not null,
  failures bigint not null,
  started_at timestamp with time zone not null,
  duration_ms double precision not null,
  failure text,
  next_at timestamp with time zone,
  constraint job_pkey PRIMARY KEY (name, part)
);
comment on table ops.job is 'What goes on without a request: the last run of each job, and how many there were.';
comment on column ops.job.part is 'Which of several of the name: chain, partner or indexer; empty: there is one.';
comment on column ops.job.failure is 'Of the last run; null: it did not fail.';
comment on column ops.job.next_at is 'Null: the next run waits for something to happen.';

create table ops.lease (
  role text not null,
  owner text not null,
  epoch bigint not null,
  expires_at timestamp with time zone not null,
  constraint lease_pkey PRIMARY KEY (role)
);
comment on table ops.lease is 'Who alone may work in a role, until when by the clock of the database. Each holder has an epoch of its own.';

create table ops.metadata_request (
  chain_id integer not null,
  contract_id integer not null,
  token_id numeric(78,0) not null,
  requested_at timestamp with time zone not null,
  is_pending boolean default true not null,
  constraint metadata_request_pkey PRIMARY KEY (contract_id, token_id)
);
comment on table ops.metadata_request is 'Tokens whose metadata callers asked to be fetched again: one request in ten minutes.';
CREATE INDEX metadata_request_pending ON ops.metadata_request USING btree (chain_id, requested_at) WHERE is_pending;
CREATE INDEX metadata_request_time ON ops.metadata_request USING btree (requested_at);

create table ops.migration (
  name text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (name)
);
comment on table ops.migration is 'What brought the database to its release.';

create table ops.node_fault (
  chain_id integer not null,
  part text not null,
  reason text not null,
  hosts text[] not null,
  since timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  constraint node_fault_pkey PRIMARY KEY (chain_id, part)
);
comment on table ops.node_fault is 'Why an indexer cannot use a node, by its host, or what of a chain waits, as long as it does.';

create table ops.observation_check (
  chain_id integer not null,
  settled_number bigint not null,
  constraint observation_check_pkey PRIMARY KEY (chain_id)
);
comment on table ops.observation_check is 'Height up to which the blocks of observations are final and were compared with the chain.';

create table ops.order_budget (
  chain_id integer not null,
  subject text not null,
  address bytea not null,
  spent double precision not null,
  spent_at timestamp with time zone not null,
  per_second double precision not null,
  constraint order_budget_pkey PRIMARY KEY (chain_id, subject, address)
) with (fillfactor=70);
comment on column ops.order_budget.address is 'Of a maker or a contract; empty: a budget that many share';
comment on column ops.order_budget.spent is 'Orders, or rows of token sets, as of spent_at; per_second of them are given back';
CREATE INDEX order_budget_spent_at ON ops.order_budget USING btree (spent_at);

create table ops.order_recheck (
  chain_id integer not null,
  "position" bigint not null,
  constraint order_recheck_pkey PRIMARY KEY (chain_id)
) with (fillfactor=50);
comment on column ops.order_recheck."position" is 'Orders that facts up to here leave uncertain were read again from the chain.';

create table ops.outgoing_call (
  role text not null,
  kind text not null,
  target text not null,
  host text not null,
  method text not null,
  outcome text not null,
  calls bigint not null,
  hour timestamp with time zone not null,
  calls_in_hour bigint not null,
  calls_before bigint not null,
  last_at timestamp with time zone not null,
  last_message text,
  constraint outgoing_call_pkey PRIMARY KEY (role, kind, target, host, method, outcome),
  constraint outgoing_call_kind_check CHECK ((kind = ANY (ARRAY['node'::text, 'partner'::text])))
) with (fillfactor=70);
comment on column ops.outgoing_call.target is 'Chain id of a node, or marketplace';
comment on column ops.outgoing_call.host is 'Of the node; empty: one of those that Ponder uses, or a partner';
comment on column ops.outgoing_call.calls_in_hour is 'Of calls, those of the hour in which the last was stored';
comment on column ops.outgoing_call.calls_before is 'Of calls, those of the hour before';

create table ops.partner_budget (
  role text not null,
  marketplace text not null,
  budget text not null,
  per_minute integer not null,
  burst integer not null,
  restored_at timestamp with time zone not null,
  paused_until timestamp with time zone,
  stored_at timestamp with time zone not null,
  constraint partner_budget_pkey PRIMARY KEY (role, marketplace, budget),
  constraint partner_budget_budget_check CHECK ((budget = ANY (ARRAY['read'::text, 'act'::text])))
) with (fillfactor=70);
comment on column ops.partner_budget.restored_at is 'When all requests of the burst are possible again';

create table ops.partner_collection (
  marketplace text not null,
  chain_id integer not null,
  contract bytea not null,
  slug text,
  fees jsonb,
  fee_changes integer default 0 not null,
  described_at timestamp with time zone,
  is_registered boolean default false not null,
  due_at timestamp with time zone not null,
  pass text,
  pass_number bigint default 0 not null,
  pass_cursor text,
  pass_pages integer default 0 not null,
  pass_started_at timestamp with time zone,
  is_pass_complete boolean default true not null,
  full_at timestamp with time zone,
  fees_in_force jsonb,
  pending_reason text,
  constraint partner_collection_pkey PRIMARY KEY (marketplace, chain_id, contract),
  constraint partner_collection_pass_check CHECK ((pass = ANY (ARRAY['full'::text, 'newest'::text])))
);
CREATE INDEX partner_collection_due ON ops.partner_collection USING btree (marketplace, due_at);
CREATE INDEX partner_collection_held ON ops.partner_collection USING btree (marketplace) WHERE (pending_reason IS NOT NULL);

create table ops.partner_listing (
  marketplace text not null,
  chain_id integer not null,
  order_hash bytea not null,
  contract bytea not null,
  generation integer not null,
  is_visible boolean not null,
  pass_number bigint not null,
  end_time numeric(78,0) not null,
  constraint partner_listing_pkey PRIMARY KEY (marketplace, chain_id, order_hash)
) with (fillfactor=80);
comment on column ops.partner_listing.generation is 'How often it was withdrawn';
comment on column ops.partner_listing.pass_number is 'The last pass over its contract that saw it';
CREATE INDEX partner_listing_contract ON ops.partner_listing USING btree (marketplace, chain_id, contract);

create table ops.partner_skip (
  marketplace text not null,
  reason text not null,
  entries bigint not null,
  last_path text not null,
  last_at timestamp with time zone not null,
  constraint partner_skip_pkey PRIMARY KEY (marketplace, reason)
);

create table ops.projecting_lease (
  role text not null,
  owner text not null,
  epoch bigint not null,
  expires_at timestamp with time zone not null,
  constraint projecting_lease_pkey PRIMARY KEY (role)
);
comment on table ops.projecting_lease is 'Who alone derives the tables of a release''s versions of the projections, as in ops.lease.';

create table ops.recorded_block (
  chain_id integer not null,
  indexer text not null,
  block_id bigint not null,
  events integer not null,
  constraint recorded_block_pkey PRIMARY KEY (chain_id, indexer, block_id)
);
comment on table ops.recorded_block is 'Blocks that are not settled: how many events of an indexer the log holds of each.';
CREATE INDEX recorded_block_block_id_idx ON ops.recorded_block USING btree (block_id);

create table ops.recorder (
  chain_id integer not null,
  ponder_schema text not null,
  settled_id text not null,
  updated_at timestamp with time zone default now() not null,
  indexer text default 'core'::text not null,
  constraint recorder_pkey PRIMARY KEY (chain_id, ponder_schema)
);

create table ops.royalty_reread (
  chain_id integer not null,
  contract bytea not null,
  asked_at timestamp with time zone not null,
  read_at timestamp with time zone,
  constraint royalty_reread_pkey PRIMARY KEY (chain_id, contract)
);
CREATE INDEX royalty_reread_pending ON ops.royalty_reread USING btree (chain_id) WHERE (read_at IS NULL);

create table ops.royalty_scan (
  chain_id integer not null,
  started_at timestamp with time zone not null,
  after_id integer,
  constraint royalty_scan_pkey PRIMARY KEY (chain_id)
);
comment on column ops.royalty_scan.after_id is 'The last contract read; null: the scan has ended';

create table ops.sample (
  series text not null,
  taken_at timestamp with time zone not null,
  value double precision not null,
  constraint sample_pkey PRIMARY KEY (series, taken_at)
);
comment on table ops.sample is 'Figures of the last days that nothing else keeps: lag of chains in seconds, head of the log, bytes of the database.';

create table ops.service_role (
  process text not null,
  role text not null,
  constraint service_role_pkey PRIMARY KEY (process),
  constraint service_role_process_check CHECK ((process = ANY (ARRAY['owner'::text, 'indexer'::text, 'projector'::text, 'jobs'::text, 'api'::text, 'console'::text])))
);
comment on table ops.service_role is 'Database roles of the processes; empty: one role is all of them.';

create table ops.snapshot_holder (
  number integer not null,
  rank integer not null,
  owner bytea not null,
  units numeric(78,0) not null,
  leaf integer not null,
  constraint snapshot_holder_pkey PRIMARY KEY (number, rank),
  constraint snapshot_holder_owner_key UNIQUE (number, owner)
);
comment on column ops.snapshot_holder.leaf is 'Node of the tree.';

create table ops.source (
  chain_id integer not null,
  source text not null,
  indexer text not null,
  left_indexer text,
  event_sources text[] not null,
  address text,
  first_block bigint,
  added_by text not null,
  added_at timestamp with time zone default now() not null,
  removed_by text,
  removed_at timestamp with time zone,
  constraint source_pkey PRIMARY KEY (chain_id, source),
  constraint source_added_by_check CHECK ((added_by = ANY (ARRAY['configuration'::text, 'operator'::text]))),
  constraint source_removed_by_check CHECK ((removed_by = ANY (ARRAY['configuration'::text, 'operator'::text])))
);
comment on table ops.source is 'Exchanges and collections that are indexed, and by which indexer. left_indexer: another that still has its events, which are not recorded from there. event_sources: names stored with their events; address: of a collection. Events of a removed one are not recorded.';

create table ops.switch (
  name text not null,
  is_paused boolean not null,
  changed_at timestamp with time zone not null,
  constraint switch_pkey PRIMARY KEY (name)
);
comment on table ops.switch is 'Work that stands still by an operator''s word; without a row it goes on.';

create table engine.book (
  id smallint default 1 not null,
  release text not null,
  listings bigint not null,
  bids bigint not null,
  "position" bigint not null,
  constraint book_pkey PRIMARY KEY (id),
  constraint book_id_check CHECK ((id = 1))
);
comment on table engine.book is 'How far order events are reported, by which release, and of which tables, by their ids; 0: not completely.';

create table engine.book_order (
  order_hash bytea not null,
  chain_id integer not null,
  side text not null,
  contract_id integer not null,
  status text not null,
  reason text,
  terms jsonb not null,
  constraint book_order_pkey PRIMARY KEY (order_hash, chain_id)
) with (fillfactor=85);
comment on table engine.book_order is 'Open orders as their last event told them.';

create table engine.book_price (
  contract_id integer not null,
  side text not null,
  price_wei numeric(78,0) not null,
  constraint book_price_pkey PRIMARY KEY (contract_id, side)
) with (fillfactor=85);
comment on table engine.book_price is 'Floors (ask) and best bids on any token (bid) as they were last told.';

create table engine.checkpoint (
  projection text not null,
  version integer not null,
  parameters text not null,
  "position" bigint not null,
  updated_at timestamp with time zone default now() not null,
  excluded_positions bigint[] default '{}'::bigint[] not null,
  constraint checkpoint_pkey PRIMARY KEY (projection)
);

create table engine.order_event (
  "position" bigint not null,
  ordinal integer not null,
  chain_id integer not null,
  type text not null,
  contract_id integer not null,
  side text not null,
  order_hash bytea,
  status text,
  reason text,
  terms jsonb not null,
  happened_at timestamp with time zone not null,
  constraint order_event_pkey PRIMARY KEY ("position", ordinal)
);
comment on table engine.order_event is 'How the book changed, from tick to tick: what the feed tells of orders. Append-only.';
comment on column engine.order_event."position" is 'Of the log, up to which the tick applied it';
