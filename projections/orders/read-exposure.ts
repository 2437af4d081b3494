import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { BidReason, ListingReason } from "../domain/orders/order-status.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { bytea } from "../log/sql-values.ts";
import { type BidRow, bidColumns } from "./read-bids.ts";
import { type ListingRow, listingColumns } from "./read-listings.ts";
import {
  type OrderCursor,
  type OrderFilter,
  type OrderQuery,
  type OrderSlice,
  orderCursor,
  readOrderPage,
} from "./read-order-page.ts";
import type { OrderRow } from "./read-orders.ts";
import { conduit, exchange } from "./select-facts.ts";

type ExposedMaker = { readonly chainId: number; readonly maker: Hex };

/** Exposed orders are listed newest first. */
const exposedSort = "created_at";

export const exposedCursor = (row: OrderRow): OrderCursor => orderCursor(exposedSort, row);

/** Inactive orders of a maker for one of these reasons. */
function exposedOrders(
  schema: OrderQuery["schema"],
  { chainId, maker }: ExposedMaker,
  reasons: readonly string[],
): OrderQuery {
  const filter: OrderFilter = {
    chainId,
    maker,
    status: "inactive",
    contractIds: null,
    tokenId: null,
  };
  const condition = sql`o.reason in (${sql.join(reasons.map((one) => sql.lit(one)))})`;
  const anyToken = { rowsOfToken: null, countCondition: null, marketplaces: null };
  return { schema, filter, condition, ...anyToken };
}

/** Reasons that end when a token or an approval comes back to the maker, without anything signed anew. */
const exposedListingReasons: readonly ListingReason[] = ["not_owner", "not_approved"];

/** Reasons that end when money or an allowance comes back to the maker or the token is minted again, with nothing signed anew. */
const exposedBidReasons: readonly BidReason[] = [
  "insufficient_balance",
  "insufficient_allowance",
  "token_burned",
];

/** Inactive listings of a maker, of any marketplace, that a token or an approval would make fillable; newest first. */
export const readExposedListings = (...of: Exposed): Promise<ListingRow[]> =>
  readExposed("listings", listingColumns, exposedListingReasons, of);

/** Inactive bids of a maker that a balance, an allowance or a mint would make fillable; newest first. */
export const readExposedBids = (...of: Exposed): Promise<BidRow[]> =>
  readExposed("bids", bidColumns, exposedBidReasons, of);

type Exposed = [db: Database, maker: ExposedMaker, slice: OrderSlice, now: Date];

async function readExposed<Row extends OrderRow>(
  schema: OrderQuery["schema"],
  columnsAt: (now: Date) => RawBuilder<unknown>,
  reasons: readonly string[],
  [db, maker, slice, now]: Exposed,
): Promise<Row[]> {
  const query = exposedOrders(schema, maker, reasons);
  const page = { columns: columnsAt(now), sort: exposedSort, slice, now } as const;
  return (await readOrderPage<Row>(db, { total: query, page: query }, page)).rows;
}

/** What an account lets the exchange move, as last approved or read from the chain. */
export type OpenApproval = {
  contractId: number;
  contract: Address;
  /** `tokens`: all of a collection's, by the conduit. `money`: an amount of a currency, by the exchange. */
  of: "tokens" | "money";
  /** Wei of money; null: of tokens. */
  amountWei: bigint | null;
};

const lastState = sql`
  select s.kind from log.fact s
  where s.block_id = f.block_id and s.kind in ${kindList("block_retracted", "block_readopted")}
  order by s.position desc limit 1`;

const ofTokens = kindList("approval_for_all", "approval_read");
const ofMoney = kindList("erc20_approval", "allowance_read");
/** Both, for the index. */
const approvals = kindList("approval_for_all", "approval_read", "erc20_approval", "allowance_read");

/** Approvals of an account on a chain that are not revoked, by contract, after one. */
export async function readOpenApprovals(
  db: Database,
  { chainId, owner, after }: { chainId: number; owner: Address; after: number },
  limit: number,
): Promise<OpenApproval[]> {
  // By contract in the order of the index: a stranger's contract may claim approvals by anybody.
  const { rows } = await sql<OpenApproval>`
    select latest.contract_id as "contractId", k.address as contract,
           case when latest.kind in ${ofTokens} then 'tokens' else 'money' end as of,
           case when latest.kind in ${ofMoney} then latest.amount end as "amountWei"
    from (
      select distinct on (f.contract_id) f.contract_id, f.kind, f.amount
      from log.fact f
      where f.from_address = ${bytea(owner)} and f.contract_id > ${after}
        and (f.kind in ${ofTokens} and f.to_address = ${conduit} or f.kind in ${ofMoney} and f.to_address = ${exchange})
        and f.kind in ${approvals}
        and (${lastState}) is distinct from ${kindLiteral("block_retracted")}
      order by f.contract_id, f.block_id >> 12 desc, (f.log_index is null) desc, f.block_id desc, f.log_index desc,
               f.position desc
    ) latest
    join log.contract k using (contract_id)
    where k.chain_id = ${chainId} and latest.amount > 0
    order by latest.contract_id limit ${limit}`.execute(db);
  return rows;
}
