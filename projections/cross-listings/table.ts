/** Submitted cross-listings, and the partners' answers to them. */
export function crossListingTables(schema: string): readonly string[] {
  const crossListing = `"${schema}"."cross_listing"`;
  const answer = `"${schema}"."answer"`;
  return [
    `create table ${crossListing} (
       position           bigint  primary key,
       chain_id           integer not null,
       order_hash         bytea   not null,
       partner_order_hash bytea   not null,
       marketplace        text    not null,
       end_time           numeric not null,
       is_queued          boolean not null
     )`,
    `comment on column ${crossListing}.order_hash is 'Of our own listing'`,
    `comment on column ${crossListing}.partner_order_hash is 'Of the order signed for the partner'`,
    `comment on column ${crossListing}.is_queued is 'Not answered by the partner'`,
    `create index on ${crossListing} (chain_id, order_hash)`,
    `create index on ${crossListing} (marketplace, position) where is_queued`,
    `create table ${answer} (
       position           bigint  primary key,
       chain_id           integer not null,
       order_hash         bytea   not null,
       partner_order_hash bytea   not null,
       marketplace        text    not null
     )`,
    `create index on ${answer} (chain_id, order_hash)`,
  ];
}
