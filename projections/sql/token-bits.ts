import { type RawBuilder, sql } from "kysely";

/** Token ids that one bit string stands for: those of chunk c are c × 1024 to c × 1024 + 1023. */
const CHUNK = sql.raw("1024");

/** Type of such a bit string. */
export const bitsType = "bit(1024)";

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
