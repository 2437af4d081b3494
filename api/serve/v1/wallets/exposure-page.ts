import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { readExposedBids, readExposedListings, exposedCursor, readOpenApprovals } from "#projections/orders/read-exposure.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import { cursorInteger, cursorTime } from "#api/http/page.ts";
import type { OrderViewContext } from "#api/serve/views/orders/book-order.ts";
import { type Exposure, presentExposedBid, presentExposedListing, presentOpenApproval } from "#api/serve/views/orders/exposure.ts";

/** A place in the list: the number of its part, and the last row's key there; an approval's second number is 0. */
type Place = { part: number; value: bigint; position: bigint };

/** Digits are those of the columns: a time and a position of orders, a contract's number of approvals. */
export const exposureKey = z
  .union([
    z.tuple([z.enum(["0", "1"]), cursorTime, cursorInteger(18)]),
    z.tuple([z.literal("2"), cursorInteger(9), cursorInteger(1)]),
  ])
  .transform(([part, value, position]): Place => ({ part: Number(part), value, position }));

type Row = { key: readonly bigint[]; item: z.output<typeof Exposure> };
type Wallet = { chainId: ChainId; maker: Address };
type Slice = { limit: number; after: Place | null };

/** What a wallet has signed or approved that is not in use now, from a place on, at most `limit`. */
export async function readExposure(
  db: Database,
  wallet: Wallet,
  { limit, after }: Slice,
  context: OrderViewContext & { now: Date },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [part, read] of parts.entries()) {
    if (after !== null && part < after.part) continue;
    if (rows.length >= limit) break;
    const place = after?.part === part ? after : null;
    const slice = { limit: limit - rows.length, offset: 0, after: place };
    rows.push(...(await read(db, wallet, slice, context)));
  }
  return rows;
}

type Reader = (
  db: Database,
  wallet: Wallet,
  slice: { limit: number; offset: number; after: Place | null },
  context: OrderViewContext & { now: Date },
) => Promise<Row[]>;

const listings: Reader = async (db, wallet, slice, context) => {
  const rows = await readExposedListings(db, wallet, slice, context.now);
  const componentsOf = await readComponents(db, wallet, rows);
  return rows.map((row) => {
    const { value, position } = exposedCursor(row);
    const item = presentExposedListing(row, componentsOf(row), context);
    return { key: [0n, value, position], item };
  });
};

const bids: Reader = async (db, wallet, slice, context) => {
  const rows = await readExposedBids(db, wallet, slice, context.now);
  const componentsOf = await readComponents(db, wallet, rows);
  return rows.map((row) => {
    const { value, position } = exposedCursor(row);
    const item = presentExposedBid(row, componentsOf(row), context);
    return { key: [1n, value, position], item };
  });
};

const approvals: Reader = async (db, { chainId, maker }, { limit, after }) => {
  const request = { chainId, owner: maker, after: Number(after?.value ?? 0n) };
  const rows = await readOpenApprovals(db, request, limit);
  return rows.map((row) => ({
    key: [2n, BigInt(row.contractId), 0n],
    item: presentOpenApproval(row),
  }));
};

const parts: readonly Reader[] = [listings, bids, approvals];

async function readComponents(
  db: Database,
  { chainId }: Wallet,
  rows: readonly { orderHash: `0x${string}` }[],
) {
  const hashes = rows.map(({ orderHash }) => orderHash);
  const orders = hashes.length === 0 ? new Map() : await readMarketplaceOrders(db, chainId, hashes);
  return ({ orderHash }: { orderHash: `0x${string}` }) => {
    const order = orders.get(orderHash);
    if (order === undefined) throw new Error(`the log has no components of ${orderHash}`);
    return order.components;
  };
}
