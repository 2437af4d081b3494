import { type RawBuilder, sql } from "kysely";
import { bitOf, bitsOf, chunkOf, emptyBits, firstOf } from "../engine/token-ids.ts";
import { matchKey } from "../engine/trait-keys.ts";
import type { Database } from "../log/database.ts";
import { anyValue } from "../log/sql-values.ts";

/** A type in any spelling, and a value as text. Of several values of a type a token must have one. */
export type RequestedTrait = readonly [type: string, value: string];

/** A key of `traits.trait`; the key alone names the contract too. */
type TraitKey = { contractId: number; key: string };

/** For each trait that a token must have, its keys, one of which it must have. */
export type TraitKeys = readonly (readonly TraitKey[])[];

/** SQL: rows `(contract_id, chunk, bits)` of the tokens with all the traits; with `tokenId`, of that token only. */
export function chunksWithTraits(
  traitKeys: TraitKeys,
  tokenId: bigint | null = null,
): RawBuilder<unknown> {
  const all = traitKeys.flatMap((keys, ord) => keys.map((one) => ({ ...one, ord })));
  const contractIds = anyValue(
    all.map(({ contractId }) => contractId),
    "int[]",
  );
  const ords = anyValue(
    all.map(({ ord }) => ord),
    "int[]",
  );
  const id = anyValue(String(tokenId), "numeric");
  const [ofToken, only] =
    tokenId === null ? [sql``, sql``] : [sql`and m.chunk = ${chunkOf(id)}`, sql`& ${bitsOf(id)}`];
  return sql`
    select contract_id, chunk, bit_and(bits) ${only} as bits
    from (
      select m.contract_id, m.chunk, requested.ord, bit_or(m.bits) as bits
      from unnest(${contractIds}, ${keyArray(all)}, ${ords}) requested (contract_id, trait_key, ord)
      cross join lateral (
        select m.* from traits.token_bitmap m
        where m.contract_id = requested.contract_id and m.trait_key = requested.trait_key ${ofToken} offset 0
      ) m
      group by 1, 2, 3
    ) trait
    group by 1, 2 having count(*) = ${traitKeys.length}`;
}

/** SQL: the keys, for `any` and `unnest`. */
export function keyArray(keys: readonly TraitKey[]): RawBuilder<unknown> {
  return anyValue(
    keys.map(({ key }) => key),
    "uuid[]",
  );
}

/** Rows of sales, tokens, listings, ranks and orders, by their aliases. */
type Row = "s" | "t" | "l" | "r" | "o";

/**
 * SQL: rows `(contract_id, first, last, bits)` from `chunks` (contract_id, chunk, bits): all bits of a contract in one
 * string, in which a scan looks a token up directly. The ids must be near each other.
 */
export function bitRunsOf(chunks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, ${firstOf(sql`min(chunk)`)} as first, ${firstOf(sql`max(chunk) + 1`)} - 1 as last,
           string_agg(repeat(${emptyBits}::text, missing) || bits::text, '' order by chunk)::varbit as bits
    from (
      select *, coalesce(chunk - 1 - lag(chunk) over (partition by contract_id order by chunk), 0)::int as missing
      from ${chunks}
    ) chunk_with_gap
    group by contract_id`;
}

/**
 * SQL: whether the row's token is set in `run`. With one contract there is at most one run, read once; else the run is
 * looked up for each row.
 */
export function isInBitRun(row: Row, contractIds: readonly number[]): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  if (contractIds.length === 1) {
    const [first, last, bits] = ["first", "last", "bits"].map(
      (column) => sql`(select run.${sql.id(column)} from run)`,
    );
    return sql`
      1 = case when ${tokenId} between ${first} and ${last} then get_bit(${bits}, (${tokenId} - ${first})::int) end`;
  }
  return sql`1 = (
    select get_bit(run.bits, (${tokenId} - run.first)::int) from run
    where run.contract_id = ${contractId} and ${tokenId} between run.first and run.last
  )`;
}

/** SQL: the same as `hasTraits`, of a row of any contract. */
export function hasRequestedTraits(
  row: Row,
  traits: readonly RequestedTrait[],
): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  const each = [...valuesByType(traits)].map(
    ([type, values]) => sql`exists (
      select from traits.trait v join traits.token_bitmap m using (contract_id, trait_key)
      where v.contract_id = ${contractId} and v.match_key in (${sql.join(
        values.map(
          (value) => sql`(select ${matchKey(anyValue(type, "text"), anyValue(value, "text"))})`,
        ),
      )})
        and m.chunk = ${chunkOf(tokenId)} and ${bitOf(sql`m.bits`, tokenId)} = 1 offset 0
    )`,
  );
  return each.length === 0 ? sql`true` : sql.join(each, sql` and `);
}

/** SQL: whether the row's token has all the traits; for scans that need few tokens. */
export function hasTraits(row: Row, traitKeys: TraitKeys): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  const each = traitKeys.map(
    (keys) => sql`exists (
      select from traits.token_bitmap m
      where m.contract_id = ${contractId} and m.trait_key = any (${keyArray(keys)}::uuid[])
        and m.chunk = ${chunkOf(tokenId)} and ${bitOf(sql`m.bits`, tokenId)} = 1 offset 0
    )`,
  );
  return each.length === 0 ? sql`true` : sql.join(each, sql` and `);
}

/** Values that are alternatives, by their type, in the order of the types. */
export function valuesByType(traits: readonly RequestedTrait[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [type, value] of traits) groups.set(type, [...(groups.get(type) ?? []), value]);
  return groups;
}

type KeysOfTrait = { contractIds: number[]; keys: string[] };

/**
 * The keys of each type's values in the contracts: one per contract and spelling, none where no token has one. The rarest
 * comes first: it excludes most tokens.
 */
export async function readTraitKeys(
  db: Database,
  contractIds: readonly number[],
  traits: readonly RequestedTrait[],
): Promise<TraitKey[][]> {
  if (traits.length === 0) return [];
  const { rows } = await sql<KeysOfTrait>`
    select coalesce(array_agg(own.contract_id) filter (where own.contract_id is not null), '{}') as "contractIds",
           coalesce(array_agg(own.trait_key::text) filter (where own.contract_id is not null), '{}') as keys
    from ${requestedTraits(traits)}
    left join lateral (
      select v.contract_id, v.trait_key, v.tokens from traits.trait v
      where v.contract_id = any (${anyValue(contractIds, "int[]")}::int[]) and ${isRequested} offset 0
    ) own on true
    group by requested.ord order by coalesce(sum(own.tokens), 0), requested.ord`.execute(db);
  return rows.map(keysOf);
}

/** The same for all contracts of the chain that have each of the traits; null if they are more than `maxContracts`. */
export async function readTraitKeysOfChain(
  db: Database,
  chainId: number,
  traits: readonly RequestedTrait[],
  maxContracts: number,
): Promise<TraitKey[][] | null> {
  const types = valuesByType(traits).size;
  const { rows } = await sql<KeysOfTrait>`
    with found as materialized (
      select v.contract_id, v.trait_key, v.tokens, requested.ord
      from ${requestedTraits(traits)}
      cross join lateral (
        select v.* from traits.trait v where ${isRequested} offset 0
      ) v
      join log.contract k using (contract_id)
      where k.chain_id = ${chainId}
    ), complete as materialized (
      select contract_id from found group by contract_id
      having count(distinct ord) = ${types} limit ${maxContracts + 1}
    )
    select array_agg(found.contract_id) as "contractIds", array_agg(found.trait_key::text) as keys
    from found join complete using (contract_id)
    group by found.ord order by sum(found.tokens)`.execute(db);
  if (new Set(rows[0]?.contractIds).size > maxContracts) return null;
  return rows.length === 0 ? Array.from({ length: types }, () => []) : rows.map(keysOf);
}

/** SQL: whether row `v` of `traits.trait` is the trait `requested`. */
const isRequested = sql`v.match_key = ${matchKey(sql`requested.type`, sql`requested.value`)}`;

/** SQL: rows of each value; `ord` is that of its type. */
function requestedTraits(traits: readonly RequestedTrait[]): RawBuilder<unknown> {
  const rows = [...valuesByType(traits)].flatMap(([type, values], ord) =>
    values.map((value) => ({ type, value, ord })),
  );
  const [types, values, ords] = [
    rows.map(({ type }) => type),
    rows.map(({ value }) => value),
    rows.map(({ ord }) => ord),
  ];
  return sql`
    unnest(${anyValue(types, "text[]")}, ${anyValue(values, "text[]")}, ${anyValue(ords, "int[]")})
      requested (type, value, ord)`;
}

function keysOf({ contractIds, keys }: KeysOfTrait): TraitKey[] {
  return keys.map((key, index) => ({ contractId: contractIds[index] ?? 0, key }));
}
