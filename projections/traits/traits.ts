import { sql } from "kysely";
import type { Projection } from "../engine/projection.ts";
import { handlesAny } from "../engine/tick.ts";
import { bitsType } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import {
  cheapestListing,
  deriveAffectedTokens,
  isKnown,
  isLive,
  listAffectedTokens,
  openSessionTables,
  traitsOf,
} from "./derive-tokens.ts";
import { deriveAllTokenBitmaps, fingerprintOf, updateTables } from "./update-tables.ts";

type Sources = Record<"metadata" | "ownership" | "listings", Projection>;

/**
 * Traits of tokens, with the number of tokens, listed tokens and the floor price of each trait. Derived from the tables
 * of other projections: rebuilt when their versions change.
 */
export function traitsProjection({ metadata, ownership, listings }: Sources): Projection {
  const reads = [metadata, ownership, listings];
  return {
    name: "traits",
    version: versions.traits.version,
    parameters: reads.map(({ name, version }) => `${name} ${version}`).join(", "),
    reads: reads.map(({ name }) => name),
    tables,
    async apply(session, schema, window) {
      const { kinds } = window;
      await openSessionTables(session);
      if ((await listAffectedTokens(session, schema, window)) === 0) return;
      // Without changes of metadata or owners, tokens keep their traits and only listings can differ.
      const traitsMayChange =
        kinds === undefined || handlesAny(metadata, kinds) || handlesAny(ownership, kinds);
      if ((await deriveAffectedTokens(session, schema, { traitsMayChange })) === 0) return;
      await sendAhead(session, (ahead) => updateTables(ahead, schema, { traitsMayChange }));
    },
    deriveAll: [{ name: "traits", derive: deriveAllTraits }],
  };
}

/** Fills empty tables without indexes. Rows of a contract or trait are stored together, since they are read so. */
async function deriveAllTraits(session: Session, schema: string): Promise<void> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  await sql`
    insert into ${table("token")} (contract_id, token_id, trait_keys, is_live)
    select t.contract_id, t.token_id,
           array(select trait_key from (${traitsOf(sql`t.attributes`)}) trait order by ord), ${isLive}
    from metadata.token t join log.contract k using (contract_id)
    where t.status = 'ok' and ${isKnown}`.execute(session);
  await sql`
    insert into ${table("listed_token")} (contract_id, token_id, standard, order_hash, unit_price_wei, position, listed_at)
    select t.contract_id, t.token_id, l.standard, l.order_hash, l.unit_price_wei, l.position, l.listed_at
    from (select distinct contract_id, token_id from listings.listing where status = 'active') t
    cross join lateral (${cheapestListing}) l`.execute(session);
  await sql`
    insert into ${table("listed_token_trait")} (contract_id, trait_key, unit_price_wei, position, token_id)
    select contract_id, u.trait_key, l.unit_price_wei, l.position, token_id
    from ${table("listed_token")} l join ${table("token")} t using (contract_id, token_id)
    cross join unnest(t.trait_keys) u (trait_key)
    order by 1, 2, 3, 4`.execute(session);
  await deriveAllTokenBitmaps(session, schema);
  await deriveAllTraitRows(session, schema);
  await deriveAllContracts(session, schema);
}

/** A key's type and value are looked up in the metadata of one token that has it. */
async function deriveAllTraitRows(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.trait`)}
      (contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric, tokens, live, listed,
       floor_wei, floor_position, floor_token)
    select v.contract_id, v.trait_key, parsed.match_key, parsed.type, parsed.type_key, parsed.value, parsed.is_number,
           parsed.is_numeric, v.tokens, v.live, coalesce(l.listed, 0), l.unit_price_wei, l.position, l.token_id
    from (
      select contract_id, u.trait_key, count(*) as tokens, count(*) filter (where is_live) as live,
             min(token_id) as example
      from ${sql.table(`${schema}.token`)} cross join unnest(trait_keys) u (trait_key)
      group by contract_id, u.trait_key
    ) v
    left join (
      select distinct on (contract_id, trait_key) contract_id, trait_key, unit_price_wei, position, token_id,
             count(*) over (partition by contract_id, trait_key) as listed
      from ${sql.table(`${schema}.listed_token_trait`)}
      order by contract_id, trait_key, unit_price_wei, position
    ) l using (contract_id, trait_key)
    join log.contract k using (contract_id)
    join metadata.token m on m.contract_id = v.contract_id and m.token_id = v.example
    cross join lateral (
      select * from (${traitsOf(sql`m.attributes`)}) trait where trait.trait_key = v.trait_key
    ) parsed
    order by 1, 2`.execute(session);
}

async function deriveAllContracts(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.contract`)} (contract_id, tokens, live, listed, fingerprint)
    select contract_id, coalesce(t.tokens, 0), coalesce(t.live, 0), coalesce(l.listed, 0), coalesce(t.fingerprint, 0)
    from (
      select contract_id, count(*) as tokens, count(*) filter (where is_live) as live,
             sum(case when is_live then ${fingerprintOf(sql`token_id`, sql`trait_keys`)} else 0 end::numeric) as fingerprint
      from ${sql.table(`${schema}.token`)} group by contract_id
    ) t
    full join (
      select contract_id, count(*) as listed from ${sql.table(`${schema}.listed_token`)} group by contract_id
    ) l using (contract_id)`.execute(session);
}

/** The tables are described in `README.md`. */
function tables(schema: string): readonly string[] {
  return [
    `create table ${schema}.token (
       contract_id integer       not null,
       token_id    numeric(78,0) not null,
       trait_keys  uuid[]        not null,
       is_live     boolean       not null,
       primary key (contract_id, token_id)
     )`,
    `comment on column ${schema}.token.trait_keys is 'Keys of its traits, in the order of its attributes'`,

    `create table ${schema}.token_bitmap (
       contract_id integer       not null,
       trait_key   uuid          not null,
       chunk       numeric(78,0) not null,
       bits        ${bitsType}   not null,
       primary key (contract_id, trait_key, chunk)
     )`,
    `comment on table ${schema}.token_bitmap is 'A bit per token id of a chunk of 1,024: whether it has the trait'`,

    `create table ${schema}.trait (
       contract_id    integer not null,
       trait_key      uuid    not null,
       match_key      uuid    not null,
       type           text    not null,
       type_key       text    not null,
       value          text    not null,
       is_number      boolean not null,
       is_numeric     boolean not null,
       tokens         bigint  not null,
       live           bigint  not null,
       listed         bigint  not null,
       floor_wei      numeric(78,0),
       floor_position bigint,
       floor_token    numeric(78,0),
       primary key (contract_id, trait_key)
     )`,
    `comment on column ${schema}.trait.trait_key is 'Hash of contract, type and value as they are written'`,
    `comment on column ${schema}.trait.match_key is 'Hash of the type in any spelling and the value as text'`,
    `comment on column ${schema}.trait.is_number is 'Written as a number'`,
    `comment on column ${schema}.trait.is_numeric is 'Reads as a number'`,
    `comment on column ${schema}.trait.tokens is 'Token ids, burned ones included'`,
    `comment on column ${schema}.trait.live is 'Token ids that are not burned'`,
    `comment on column ${schema}.trait.listed is 'Token ids with an active listing as of the last clock_ticked'`,
    `comment on column ${schema}.trait.floor_wei is 'Of its first row in listed_trait, like the next two; null: none'`,
    `create index on ${schema}.trait (contract_id, match_key, (coalesce(floor_wei, 1e78::numeric)))`,
    `create index on ${schema}.trait (contract_id, type_key, (coalesce(floor_wei, 1e78::numeric)), (left(value, 32)), match_key)
       where live > 0`,
    `create index on ${schema}.trait (contract_id, type_key) where live > 0 and not is_numeric`,
    `create index on ${schema}.trait (match_key, contract_id)`,

    `create table ${schema}.listed_token (
       contract_id    integer       not null,
       token_id       numeric(78,0) not null,
       standard       smallint      not null,
       order_hash     bytea         not null,
       unit_price_wei numeric(78,0) not null,
       position       bigint        not null,
       listed_at      timestamptz   not null,
       primary key (contract_id, token_id)
     )`,
    `comment on table ${schema}.listed_token is 'The cheapest active listing of each token that has one, as of the last clock_ticked'`,
    `comment on column ${schema}.listed_token.listed_at is 'When the newest of its active listings was recorded'`,
    `create index on ${schema}.listed_token (contract_id, unit_price_wei, token_id)`,
    `create index on ${schema}.listed_token (contract_id, listed_at, token_id)`,

    `create table ${schema}.listed_token_trait (
       contract_id    integer       not null,
       trait_key      uuid          not null,
       unit_price_wei numeric(78,0) not null,
       position       bigint        not null,
       token_id       numeric(78,0) not null,
       primary key (contract_id, trait_key, unit_price_wei, position)
     )`,
    `comment on table ${schema}.listed_token_trait is 'A row of listed_token for each trait of its token'`,

    `create table ${schema}.contract (
       contract_id integer primary key,
       tokens      bigint  not null,
       live        bigint  not null,
       listed      bigint  not null,
       fingerprint numeric not null
     )`,
    `comment on column ${schema}.contract.fingerprint is 'Sum of hashes of the live tokens with their traits'`,
  ];
}
