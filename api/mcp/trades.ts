import type { Address } from "viem";
import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { ActivityItem } from "../v1/activity.ts";
import { listBids } from "../v1/orders/bids.ts";
import { type Exposure, walletExposure } from "../v1/orders/exposure.ts";
import { listListings } from "../v1/orders/listings.ts";
import { listSales } from "../v1/sales.ts";
import { transaction } from "../v1/transaction.ts";
import { presentCurrency } from "../v1/wire.ts";
import { presentOwnOrder, presentSoldToken } from "./present.ts";
import { read, readingTool } from "./tool.ts";
import {
  amountText,
  collectionArgument,
  cursorArgument,
  rowsArgument,
  tokenIdArgument,
  walletArgument,
} from "./words.ts";

const time = z.iso.datetime({ offset: true }).optional();

export const sales = readingTool({
  name: "sales",
  title: "Sales of a collection, a token or a wallet",
  description:
    "Sales on all indexed marketplaces, newest first: of a collection, of one token, of a wallet (as buyer, seller or either), in a time. `count` is of all that match.",
  fields: {
    collection: collectionArgument.optional(),
    tokenId: tokenIdArgument.optional(),
    wallet: walletArgument.optional(),
    as: z.enum(["buyer", "seller", "either"]).default("either").describe("Of `wallet`"),
    since: time.describe("ISO 8601, included"),
    until: time.describe("ISO 8601, excluded"),
    rows: rowsArgument(100, 10),
    cursor: cursorArgument,
  },
  answer: async ({ collection, tokenId, wallet, as, since, until, rows, cursor }, context) => {
    const who = { [as === "either" ? "wallet" : as]: wallet };
    const query = { collection, token_id: tokenId, ...who, since, until };
    const page = { per_page: `${rows}`, cursor };
    const found = await read(listSales, { query: { ...query, ...page } }, context);
    if (isRejection(found)) return found;
    return {
      count: found.meta?.total,
      sales: found.data.map(presentSoldToken),
      more: found.meta?.next_cursor ?? undefined,
    };
  },
});

export const transactionDetails = readingTool({
  name: "transaction",
  title: "What happened in a transaction",
  description:
    "What one transaction did to tokens and orders, in order: sales with price and both sides, transfers, mints, burns, cancels.",
  place: "chains",
  loadClass: "data",
  fields: { hash: z.string().regex(/^0x[0-9a-fA-F]{64}$/) },
  answer: async (params, context) => {
    const found = await read(transaction, { params }, context);
    if (isRejection(found)) return found;
    const { chainId, blockNumber, timestamp, sales, activity, truncated } = found.data;
    return {
      ...{ chainId, blockNumber, time: timestamp },
      sales: sales.map(presentSoldToken),
      others: activity.filter(({ type }) => type !== "sale").map(presentHappening),
      ...(truncated && { didMore: true }),
    };
  },
});

function presentHappening(item: z.output<typeof ActivityItem>) {
  const { type, collection, contract, tokenId, quantity, from, to, orderHash } = item;
  return {
    ...{ type, collection: collection?.name ?? undefined, contract, tokenId, units: quantity },
    ...{ from, to, orderHash: orderHash ?? undefined, url: item.urls.token },
  };
}

export const exposure = readingTool({
  name: "wallet_exposure",
  title: "Open orders and approvals of a wallet",
  description:
    "What others can take of a wallet: its active listings and offers; then what it forgot: inactive orders that come back to life with a token, money or an approval, and open approvals. `prepare_cancel` ends orders; an approval has the call that revokes it.",
  fields: { wallet: walletArgument, rows: rowsArgument(50, 20), cursor: cursorArgument },
  answer: async ({ wallet, rows, cursor }, context) => {
    const orders = { query: { maker: wallet, per_page: `${rows}` } };
    const listings = await read(listListings, orders, context);
    if (isRejection(listings)) return listings;
    const bids = await read(listBids, orders, context);
    if (isRejection(bids)) return bids;
    const query = { per_page: `${rows}`, cursor };
    const rest = await read(walletExposure, { params: { wallet }, query }, context);
    if (isRejection(rest)) return rest;
    return {
      activeListings: { count: listings.meta?.total, shown: listings.data.map(presentOwnOrder) },
      activeOffers: { count: bids.meta?.total, shown: bids.data.map(presentOwnOrder) },
      forgotten: rest.data.map((one) => presentForgotten(one, context.chainId)),
      more: rest.meta?.next_cursor ?? undefined,
    };
  },
});

/** The call that cancels an order is long: `prepare_cancel` makes it. */
function presentForgotten(
  { fillableWith, listing, bid, approval, end }: z.output<typeof Exposure>,
  chainId: ChainId,
) {
  const order = listing ?? bid;
  if (order !== null) return { ...presentOwnOrder(order), comesBackWith: fillableWith };
  return {
    approvalOf: approval?.of,
    contract: approval?.contract,
    operator: approval?.operator,
    ...(approval?.amountWei != null && {
      amount: amountText(
        approval.amountWei,
        presentCurrency(chainId, approval.contract as Address),
      ),
    }),
    revoke: { to: end.to, data: end.data, valueWei: end.value },
  };
}
