import { sql } from "kysely";
import type { Address } from "viem";
import { blockIdRange } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { isRoyalty } from "./read-sale.ts";

/** A sold token of a contract that states royalties (ERC-2981), of whose price somebody had a part, nobody knows what for. */
export type UnknownFee = { contract: Address; tokenId: bigint; recipient: Address };

/** Sales that are looked at in one go. */
const salesAtOnce = 1_000;

/**
 * Such parts of a chain's next sales of a day after the block `after`, null being a thousand sales ago, and the last block
 * that was looked at; null: there is no sale.
 */
export async function readUnknownFees(
  db: Database,
  chainId: number,
  { after, now }: { after: bigint | null; now: Date },
): Promise<{ fees: UnknownFee[]; upTo: bigint | null }> {
  const { from, to } = blockIdRange(chainId);
  const ofChain = sql`s.block_id >= ${from} and s.block_id < ${to}`;
  const sold =
    after === null
      ? sql`select * from sales.sale s where ${ofChain} order by s.block_id desc limit ${salesAtOnce}`
      : sql`select * from sales.sale s where ${ofChain} and s.block_id > ${after}
            order by s.block_id fetch first ${sql.lit(salesAtOnce)} rows with ties`;
  type Found = Omit<UnknownFee, "tokenId"> & { tokenId: string };
  const { rows } = await sql<{ upTo: bigint | null; fees: Found[] }>`
    with sold as materialized (${sold}), unknown as (
      select distinct '0x' || encode(k.address, 'hex') as contract, s.token_id::text as "tokenId",
             fee.value ->> 'recipient' as recipient
      from sold s join log.contract k using (contract_id) cross join lateral jsonb_array_elements(s.fees) fee
      where s.timestamp > ${now}::timestamptz - interval '1 day' and fee.value ->> 'kind' = 'other'
        and exists (
          select from collections.stated_royalty stated
          where stated.contract_id = s.contract_id and stated.source = 'erc2981' and stated.recipient is not null)
        and not ${sql.raw(isRoyalty("s", "fee.value ->> 'recipient'"))}
    )
    select (select max(block_id) from sold) as "upTo", (select coalesce(jsonb_agg(u), '[]') from unknown u) as fees`.execute(
    db,
  );
  const [found] = rows;
  return {
    upTo: found?.upTo ?? after,
    fees: (found?.fees ?? []).map((fee) => ({ ...fee, tokenId: BigInt(fee.tokenId) })),
  };
}
