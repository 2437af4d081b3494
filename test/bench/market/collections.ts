import { sql } from "kysely";
import { appendStaged, openStage } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { addressOf, fraction } from "../facts.ts";

/** ApeChain, which both APIs serve. */
export const chainId = 33139;
export const chain = sql.lit(chainId);

/** Numbers of rows of a generated market. */
export type MarketSize = { tokens: number; collections: number; sales: number };

export function sizeOf(scale: number): MarketSize {
  const [tokens, collections, sales] = [5_000_000, 2_000, 5_000_000];
  return {
    tokens: Math.round(tokens * scale),
    collections: Math.round(collections * scale),
    sales: Math.round(sales * scale),
  };
}

const LARGEST = 100_000;
const LARGE = 10_000;
/** One in this many collections is large. */
const LARGE_SHARE = 50;
/** Share of the tokens in collections with metadata; these collections come first. */
const DESCRIBED_SHARE = 0.2;

/** Types of traits and how many values each has. */
const traitTypes = {
  Background: 4,
  Fur: 8,
  Eyes: 12,
  Mouth: 20,
  Hat: 30,
  Clothes: 40,
  Earring: 60,
  Weapon: 80,
  Aura: 100,
};

const adjectives = "Mutant Tiny Golden Cyber Lost Lucky Wild Sleepy Royal Cosmic".split(" ");
const nouns = "Apes Cats Toads Robots Wizards Punks Foxes Ghosts Skulls Pandas Owls Knights".split(
  " ",
);

/** Tables of the collections, their tokens numbered through, and of the types of traits. */
export async function makeCollections(db: Database, size: MarketSize): Promise<void> {
  const tokens = tokensOfEach(size);
  const names = tokens.map((_, number) => {
    const noun = nouns[Math.floor(number / adjectives.length) % nouns.length];
    return `${adjectives[number % adjectives.length]} ${noun} ${number}`;
  });
  await sql`create schema if not exists bench`.execute(db);
  await sql`
    create table bench.collection as
    select *, ${sql.raw(addressOf("contract", "number"))} as address, first < ${size.tokens * DESCRIBED_SHARE} as is_described
    from (
      select number - 1 as number, tokens, name, sum(tokens) over (order by number) - tokens as first
      from unnest(${tokens}::bigint[], ${names}::text[]) with ordinality one (tokens, name, number)
    ) numbered`.execute(db);
  await sql`alter table bench.collection alter first type bigint`.execute(db);
  await sql`create unique index on bench.collection (first)`.execute(db);
  await sql`
    create table bench.trait_type as
    select * from unnest(${Object.keys(traitTypes)}::text[], ${Object.values(traitTypes)}::int[])
      with ordinality one (name, "values", number)`.execute(db);
  await sql`vacuum analyze bench.collection, bench.trait_type`.execute(db);
}

/** One very large collection, some large ones, the others of very unequal sizes; largest first. */
function tokensOfEach({ tokens, collections }: MarketSize): number[] {
  const large = Math.max(2, Math.round(collections / LARGE_SHARE));
  const left = tokens - LARGEST - large * LARGE;
  const weights = Array.from({ length: collections - large - 1 }, (_, index) => 1 / (index + 20));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const others = weights.map((weight) => Math.max(1, Math.round((left * weight) / sum)));
  return [LARGEST, ...Array.from({ length: large }, () => LARGE), ...others];
}

/** Facts of the registry, the contracts and their metadata for every collection. */
export async function appendCollections(db: Database, until: Date): Promise<void> {
  const { collection_registered, contract_described, contract_metadata_fetched } = factKind;
  const hex = sql`'0x' || encode(address, 'hex')`;
  await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, contract, identity, recorded_at, payload)
      select number * 3 + described.ordinal, described.kind, ${chain}, address,
             sha256(convert_to('collection' || number || '/' || described.ordinal, 'UTF8')), ${until}, described.payload
      from bench.collection cross join lateral (values
        (0, ${sql.lit(collection_registered)}, jsonb_build_object(
           'source', 'operator', 'slug', lower(replace(name, ' ', '-')), 'name', name,
           'verified', ${sql.raw(fraction("number", 21))} < 0.2, 'contracts', jsonb_build_array(${hex}))),
        (1, ${sql.lit(contract_described)}, jsonb_build_object(
           'name', name, 'symbol', upper(left(name, 3)), 'standard', 'erc721')),
        (2, ${sql.lit(contract_metadata_fetched)}, jsonb_build_object(
           'status', 'ok', 'uri', 'ipfs://' || number, 'name', name, 'description', 'All about ' || name,
           'image', 'ipfs://' || number || '/image.png', 'banner', null, 'website', 'https://example.org/' || number,
           'twitter', null, 'discord', null))
      ) described (ordinal, kind, payload)`.execute(session);
    await appendStaged(session);
  });
}
