import { type RawBuilder, sql } from "kysely";
import { type Ids, unionOf } from "../domain/id-runs.ts";
import { kindLiteral } from "../log/fact-kinds.ts";

/** An id in a contract. */
export type TokenPlace = { contractId: number; tokenId: bigint };

/** Tells a token apart from others in a map. */
export function nameOfToken({ contractId, tokenId }: TokenPlace): string {
  return `${contractId}/${tokenId}`;
}

/** SQL: the row of `ownership.token_range` that an id of a contract is in, if it is in one. */
export function rangeAt(
  contractId: RawBuilder<unknown>,
  tokenId: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select * from (
      select * from ownership.token_range one_range
      where one_range.contract_id = ${contractId} and one_range.first_id <= ${tokenId}
      order by one_range.first_id desc limit 1
    ) last_range where last_range.last_id >= ${tokenId}`;
}

/** SQL: the tokens of an id of a contract, with a row of their own or in a range, as rows of `ownership.token`. */
export function tokensAt(
  contractId: RawBuilder<unknown>,
  tokenId: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select own.contract_id, own.token_id, own.standard, own.owner, own.supply, own.is_burned, own.block_id
    from ownership.token own where own.contract_id = ${contractId} and own.token_id = ${tokenId}
    union all
    select held.contract_id, ${tokenId}, 721::smallint, held.owner, (not held.is_burned)::int::numeric, held.is_burned,
           held.block_id
    from (${rangeAt(contractId, tokenId)}) held
  )`;
}

/** Relations that tell who has what, with the columns of `ownership`. */
export type OwnedTokens = {
  /** Tokens that moved alone. */
  readonly token: RawBuilder<unknown>;
  readonly balance: RawBuilder<unknown>;
  /** Of a contract and an id, its range or its tokens. */
  readonly rangeAt: typeof rangeAt;
  readonly tokensAt: typeof tokensAt;
};

/** As the tables have it. */
export const ownedNow: OwnedTokens = {
  token: sql`ownership.token`,
  balance: sql`ownership.balance`,
  rangeAt,
  tokensAt,
};

/** Ids of ranges `from`; each id in turn, as far as the reader goes: a range may hold more ids than there are atoms. */
type Unfolding = {
  /** SQL: rows of `ownership.token_range` as `r`, with the order to unfold them in, and conditions. */
  ranges: RawBuilder<unknown>;
  /** SQL: unfold no id before it. */
  from: RawBuilder<unknown>;
};

/**
 * SQL: ids of ranges as rows `(contract_id, token_id, standard, owner)`, in the order of the ranges. A set-returning
 * function in a select list gives one row at a time, so a limit ends it; the same in a from clause would store all rows.
 */
export function unfoldRanges({ ranges, from }: Unfolding): RawBuilder<unknown> {
  return sql`(
    select r.contract_id, generate_series(greatest(r.first_id, ${from}), r.last_id) as token_id, 721::smallint as standard,
           r.owner
    from (${ranges} offset 0) r
  )`;
}

/** SQL: the ids of a contract in ranges, from one on, by id. */
export function idsOfContract(
  contractId: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const ranges = sql`
    select * from ownership.token_range r
    where r.contract_id = ${contractId} and r.first_id >= coalesce((
      select max(before.first_id) from ownership.token_range before
      where before.contract_id = ${contractId} and before.first_id <= ${from}
    ), 0)
    order by r.first_id`;
  return unfoldRanges({ ranges, from });
}

/** Ids by contract: of each disjoint, by id. */
export type Areas = ReadonlyMap<number, readonly Ids[]>;

export function groupByContract<Of extends { contractId: number }>(
  rows: readonly Of[],
): Map<number, Of[]> {
  const groups = new Map<number, Of[]>();
  for (const row of rows) {
    const group = groups.get(row.contractId);
    if (group === undefined) groups.set(row.contractId, [row]);
    else group.push(row);
  }
  return groups;
}

export function areasOf(ids: readonly (Ids & { contractId: number })[]): Areas {
  return new Map([...groupByContract(ids)].map(([contractId, own]) => [contractId, unionOf(own)]));
}

/** SQL: the areas as rows `area` (contract_id, first_id, end_id). */
export function areaRows(areas: Areas): RawBuilder<unknown> {
  const rows = [...areas].flatMap(([contractId, ids]) =>
    ids.map((one) => ({ contractId, ...one })),
  );
  return sql`unnest(
    ${rows.map(({ contractId }) => contractId)}::int[], ${rows.map(({ first }) => `${first}`)}::numeric[],
    ${rows.map(({ end }) => `${end}`)}::numeric[]
  ) area (contract_id, first_id, end_id)`;
}

/**
 * SQL: selects the ids of the ranges among facts, as rows like `area`. Merged: whatever is joined with them is found once,
 * however many events of one contract name it.
 */
export function rangedAreas(facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, lower(ids) as first_id, upper(ids) as end_id
    from (
      select contract_id, unnest(range_agg(numrange(token_id, token_id + amount))) as ids from ${facts}
      where kind = ${kindLiteral("erc721_consecutive_transfer")} and amount > 0 group by contract_id
    ) merged`;
}

/** Token ids that one bit string stands for: those of chunk c are c × 1024 to c × 1024 + 1023. */
export const idsPerChunk = 1_024;

const CHUNK = sql.raw(`${idsPerChunk}`);

/** Type of such a bit string. */
export const bitsType = `bit(${idsPerChunk})`;

const type = sql.raw(bitsType);

export const emptyBits: RawBuilder<unknown> = sql`0::${type}`;

export function chunkOf(tokenId: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql<bigint>`div(${tokenId}, ${CHUNK})`;
}

/** The first token id of a chunk. */
export function firstOf(chunk: RawBuilder<unknown>): RawBuilder<bigint> {
  return sql<bigint>`(${chunk}) * ${CHUNK}`;
}

/** The token's place in the bits of its chunk. */
function slotOf(tokenId: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`mod(${tokenId}, ${CHUNK})::int`;
}

/** The bits of its chunk that hold the token alone. */
export function bitsOf(tokenId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`set_bit(${emptyBits}, ${slotOf(tokenId)}, 1)`;
}

/** 0 or 1. */
export function bitOf(bits: RawBuilder<unknown>, tokenId: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`get_bit(${bits}, ${slotOf(tokenId)})`;
}

/**
 * Rows `(contract_id, token_id)` of the bits in `chunks` (contract_id, chunk, bits). Only words that hold a bit are taken
 * apart, and of a lone bit, as ids that are hashes have them, its word alone.
 */
export function tokensIn(chunks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select c.contract_id, c.chunk * ${CHUNK} + word * 16 + place as token_id
    from (
      select *, (position(B'1' in bits) - 1) / 16 as first, bit_count(bits) = 1 as is_lone
      from ${chunks} where bits <> ${emptyBits}
    ) c
    cross join lateral generate_series(c.first, case when c.is_lone then c.first else ${CHUNK} / 16 - 1 end) word
    cross join generate_series(0, 15) place
    where substring(c.bits from word * 16 + 1 for 16) <> B'0000000000000000'
      and get_bit(c.bits, word * 16 + place) = 1`;
}
