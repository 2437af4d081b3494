import { type RawBuilder, sql } from "kysely";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Session } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { byteaLiteral } from "#projections/log/sql-values.ts";
import { fraction, hashOf } from "../facts.ts";
import { chain, chainId } from "./collections.ts";

/** One bid to so many tokens, half of them for any token of the collection. */
const TOKENS_A_BID = 4;

const wrapped = wrappedNative[chainId];

/** Bids for tokens of `market_token`, and what makes them fillable: their makers' deposits and approvals. */
export async function stageBids(session: Session, bidder: RawBuilder<unknown>): Promise<void> {
  const bidding = sql`
    (select m.*, ${bidder} as bidder from market_token m where n % ${sql.lit(TOKENS_A_BID)} = 1) bid`;
  const event = (series: string, first: number) => sql`
    ${chain}, ${sql.lit(first)} + n / 200, ${hashOf(`${series} block`, "n / 200")}, to_timestamp(1700000000 + 12 * (n / 200)),
    (n % 200)::int / 10, ${hashOf(series, "n / 10")}, (n % 200)::int, 0, ${byteaLiteral(wrapped)}`;
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, from_address, to_address, amount)
    select 400000000 + n, ${sql.lit(factKind.wrapped_deposit)}, ${event("deposit", 16_000_000)}, null, bidder,
           1000000000000000000000
    from ${bidding}
    union all
    select 500000000 + n, ${sql.lit(factKind.erc20_approval)}, ${event("allowance", 18_000_000)}, bidder,
           ${byteaLiteral(seaportAddresses["1.6"])}, ${sql.lit(`${2n ** 256n - 1n}`)}::numeric
    from ${bidding}`.execute(session);
  await sql`
    insert into staged (ord, kind, chain_id, contract, token_id, amount, from_address, order_hash, identity,
                        recorded_at, payload)
    select 600000000 + n, ${sql.lit(factKind.order_submitted)}, ${chain}, contract,
           case when n % ${sql.lit(2 * TOKENS_A_BID)} = 1 then token_id end, 1, bidder,
           ${hashOf("bid", "n")}, ${hashOf("bid submission", "n")},
           to_timestamp(1720000000 + floor(40000000 * ${sql.raw(fraction("n", 17))})),
           jsonb_build_object(
             'protocol', 'seaport-1.6', 'signature', '0x' || repeat('5b', 65),
             'components', jsonb_build_object(
               'offer', jsonb_build_array(jsonb_build_object('token', ${sql.lit(wrapped)}::text)),
               'startTime', '1720000000', 'endTime', (4000000000 + n % 1000000)::text, 'counter', '0', 'orderType', 0),
             'terms', jsonb_build_object(
               'side', 'bid', 'standard', 'erc721', 'quantity', '1',
               'unitPriceWei', (100000000000000 * (10 + (n * 7907) % 5000))::text,
               'sellerNetWei', (97500000000000 * (10 + (n * 7907) % 5000))::text,
               'fees', jsonb_build_array(jsonb_build_object(
                 'recipient', '0x' || repeat('1', 40), 'unitWei', '2500000000000', 'kind', 'service'))))
    from ${bidding}`.execute(session);
}
