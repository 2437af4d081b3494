import type { Hex } from "viem";
import { z } from "zod";
import { PositionNotReached } from "#api/http/reads/position.ts";
import { orderHashOf } from "#api/orders/order-id.ts";
import { syncOrder } from "#api/orders/sync-order.ts";
import { bidReasons, listingReasons } from "#projections/domain/orders/order-status.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { type OrderRow, readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { route } from "../context.ts";
import { bodyChainId } from "../parameters.ts";
import { hash, time } from "../wire.ts";
import { Bid, presentBid } from "./bids.ts";
import { Listing, presentListing } from "./listings.ts";
import {
  asks,
  bids,
  idIn,
  idParams,
  type ListingViewContext,
  listingViewOf,
  orderNotFound,
  orderStatusField,
  type Side,
} from "./sides.ts";

const checked = {
  orderHash: hash,
  status: orderStatusField,
  checkedAt: time,
  checkedAtBlock: z.int().min(0).meta({ description: "The block whose state was read." }),
};

/** A listing after a sync with the chain. */
export const AskSync = z
  .object({
    askId: z.string(),
    ...checked,
    invalidReason: z.enum(listingReasons).nullable(),
    row: Listing,
  })
  .meta({ id: "AskSync" });

/** A bid after a sync with the chain. */
export const BidSync = z
  .object({
    bidId: z.string(),
    ...checked,
    inactiveReason: z.enum(bidReasons).nullable(),
    row: Bid,
  })
  .meta({ id: "BidSync" });

type SyncCheck = { at: Date; blockNumber: bigint };

function presentAskSync(row: z.output<typeof Listing>, check: SyncCheck): z.output<typeof AskSync> {
  const { askId, orderHash, status, invalidReason } = row;
  return { askId, orderHash, status, invalidReason, ...presentCheck(check), row };
}

function presentBidSync(row: z.output<typeof Bid>, check: SyncCheck): z.output<typeof BidSync> {
  const { bidId, orderHash, status, inactiveReason } = row;
  return { bidId, orderHash, status, inactiveReason, ...presentCheck(check), row };
}

function presentCheck({ at, blockNumber }: SyncCheck) {
  return { checkedAt: at.toISOString(), checkedAtBlock: Number(blockNumber) };
}

const txHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be a transaction hash")
  .transform((text) => text.toLowerCase() as Hex)
  .nullish()
  .meta({
    description: "A transaction that ended the order; its receipt is proof.",
    override: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  });

const syncSide = <Row extends OrderRow, Schema extends z.ZodType>(
  side: Side<Row>,
  data: Schema,
  present: (row: Row, view: ListingViewContext, check: SyncCheck) => z.output<Schema>,
) =>
  route(
    {
      method: "post",
      path: `${side.path}/{${side.idName}}/sync`,
      operationId: `sync${side.name}`,
      tag: "Orders",
      loadClass: "orders",
      summary: `Checks a ${side.noun} against the chain and returns its updated status`,
      params: idParams(side),
      body: z.strictObject({ chainId: bodyChainId, txHash }).prefault({}),
      data,
      refuses: { not_found: 404, bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
    },
    async ({ params, body }, { market, siteUrl, now }) => {
      const { chainId } = body;
      const { writer, prefix } = market;
      const id = idIn(side, params);
      const orderHash = orderHashOf(prefix, id);
      const notFound = () => orderNotFound(side, { chainId, id, orderHash }, writer, now);
      if (orderHash === null || !(await side.read(writer, chainId, orderHash, now()))) {
        return notFound();
      }
      const request = { chainId, orderHash, txHash: body.txHash ?? null };
      const check = await syncOrder(market, request, now());
      if (isRejection(check)) return check;
      if (check.awaited !== null) {
        // Not the status of before: the caller asks because it has changed.
        throw new PositionNotReached(check.awaited, await readOrderBookPosition(writer));
      }
      const at = now();
      const row = await side.read(writer, chainId, orderHash, at);
      if (row === null) return notFound();
      return { data: present(row, await listingViewOf({ siteUrl, market }), { at, ...check }) };
    },
  );

export const askSync = syncSide(asks, AskSync, (row, view, check) =>
  presentAskSync(presentListing(row, view), check),
);
export const bidSync = syncSide(bids, BidSync, (row, view, check) =>
  presentBidSync(presentBid(row, view), check),
);
