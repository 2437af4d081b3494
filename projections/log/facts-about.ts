import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { commonConduit, seaport } from "#abis/deployments.ts";
import { factKind } from "./fact-kind.ts";
import { kindList, kindLiteral } from "./fact-kind-sql.ts";

/** Facts about something, in the order of their chain and then of the log. */
export type About =
  | { transactions: readonly { blockId: bigint; transactionIndex: number }[] }
  | { token: { contractId: number; tokenId: bigint } }
  | { collection: readonly number[] }
  | { order: OrderSubject };

/** An order, and what its state rests on. `currencyId` is what its maker pays in; null for a listing. */
export type OrderSubject = {
  chainId: number;
  orderHash: Hex;
  maker: Hex;
  contractId: number;
  tokenId: bigint | null;
  currencyId: number | null;
  endTime: bigint;
};

/** SQL: the condition that selects them from `log.fact f`. */
export function isAbout(about: About): RawBuilder<unknown> {
  if ("transactions" in about) {
    const { transactions } = about;
    return sql`f.log_index is not null and (f.block_id, f.transaction_index) in (
      select * from unnest(
        ${transactions.map(({ blockId }) => blockId)}::bigint[],
        ${transactions.map(({ transactionIndex }) => transactionIndex)}::int[]
      ))`;
  }
  if ("token" in about) {
    const { contractId, tokenId } = about.token;
    return sql`f.position in (
      select position from log.fact
      where kind in ${kindList("erc721_transfer", "erc1155_transfer")} and contract_id = ${contractId} and token_id = ${tokenId}
      union all
      select position from log.fact where ${rangesOver(contractId, tokenId)})`;
  }
  if ("order" in about) return sql`f.position in (${factsOfOrder(about.order)})`;
  const said = sql`(${factKind.collection_registered}, ${factKind.contract_described})`;
  return sql`f.position in (
    select position from log.fact
    where log_index is null and kind in ${said} and contract_id = any (${about.collection}::int[])
    union all
    select first.position
    from unnest(${about.collection}::int[]) one (contract_id)
    cross join lateral unnest(array[10, 11, 12]) of_kind (kind)
    cross join lateral (
      select x.position from log.fact x
      where x.contract_id = one.contract_id and x.kind = of_kind.kind
        and x.block_id not in (select block_id from retracted)
      order by x.block_id, x.log_index, x.sub_index limit 1
    ) first)`;
}

/** Ranges of ids given out at once that a token is in. */
function rangesOver(contractId: number, tokenId: bigint | null): RawBuilder<unknown> {
  return sql`
    kind = ${kindLiteral("erc721_consecutive_transfer")} and contract_id = ${contractId} and token_id <= ${tokenId}
    and ${tokenId}::numeric < token_id + amount`;
}

const bytesOf = (address: Address) => Buffer.from(address.slice(2), "hex");

/** By its hash, its maker, its token or the account that pays; of all moments the first that ended it. */
function factsOfOrder(order: OrderSubject): RawBuilder<unknown> {
  const { chainId, orderHash, contractId, tokenId, currencyId } = order;
  const hash = Buffer.from(orderHash.slice(2), "hex");
  const maker = Buffer.from(order.maker.slice(2), "hex");
  const exchange = bytesOf(seaport["1.6"]);
  const conduit = bytesOf(commonConduit.address);
  const idOf = (address: Buffer) => sql`(
    select k.contract_id from log.contract k where k.chain_id = ${chainId} and k.address = ${address})`;
  const of = (where: RawBuilder<unknown>) => sql`select position from log.fact where ${where}`;
  const parts = [
    of(sql`order_hash = ${hash}`),
    of(
      sql`kind in ${kindList("counter_incremented", "counter_read")} and from_address = ${maker} and contract_id = ${idOf(exchange)}`,
    ),
    sql`(${of(sql`kind = ${kindLiteral("clock_ticked")} and amount >= ${order.endTime}`)} order by amount limit 1)`,
  ];
  if (currencyId === null) {
    const token = sql`contract_id = ${contractId} and token_id = ${tokenId}`;
    parts.push(
      of(
        sql`kind in ${kindList("approval_for_all", "approval_read")} and contract_id = ${contractId} and from_address = ${maker} and to_address = ${conduit}`,
      ),
      of(
        sql`kind in ${kindList("channel_updated", "channel_read")} and contract_id = ${idOf(conduit)} and to_address = ${exchange}`,
      ),
      of(
        sql`kind in ${kindList("erc721_transfer", "erc1155_transfer")} and ${token} and ${maker} in (from_address, to_address)`,
      ),
      of(rangesOver(contractId, tokenId)),
      of(
        sql`kind in ${kindList("owner_read", "token_approval_read", "units_read", "transfer_read")} and ${token}`,
      ),
    );
  } else {
    parts.push(
      of(
        sql`kind in ${kindList("erc20_transfer", "wrapped_withdrawal", "balance_read")} and contract_id = ${currencyId} and from_address = ${maker}`,
      ),
      of(
        sql`kind in ${kindList("erc20_approval", "allowance_read")} and contract_id = ${currencyId} and from_address = ${maker} and to_address = ${exchange}`,
      ),
      of(
        sql`kind in ${kindList("erc20_transfer", "wrapped_deposit")} and contract_id = ${currencyId} and to_address = ${maker}`,
      ),
    );
  }
  return sql.join(parts, sql` union `);
}
