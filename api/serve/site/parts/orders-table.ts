import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Bid } from "#api/serve/views/orders/bid.ts";
import type { Listing } from "#api/serve/views/orders/listing.ts";
import { amount } from "./amount.ts";
import { toCollection, toToken, toWallet } from "./links-to.ts";
import { marketplaceName } from "./marketplace-name.ts";
import { moment } from "./moment.ts";
import { formatCount } from "./number.ts";
import { statusMark } from "./status-mark.ts";
import { type Column, table } from "./table.ts";

type ListingRow = z.output<typeof Listing>;
type BidRow = z.output<typeof Bid>;

type Options = {
  readonly now: Date;
  readonly caption: string;
  /** Columns that would say the same in every row. */
  readonly without?: readonly ("collection" | "token" | "maker")[];
  readonly empty?: string;
};

export function listingsTable(rows: readonly ListingRow[], options: Options): Html {
  const { now, caption, without = [], empty = "No listings." } = options;
  const columns: (Column<ListingRow> | false)[] = [
    {
      head: "Price",
      isHead: true,
      cell: ({ urls, priceWei, currency, usd }) =>
        html`<a href="${urls.listing}">${amount({ wei: priceWei, symbol: currency.symbol, usd })}</a>`,
    },
    { head: "Status", cell: ({ status, invalidReason }) => statusMark(status, invalidReason) },
    !without.includes("collection") && {
      head: "Collection",
      cell: ({ chainId, collection }) => toCollection(chainId, collection),
    },
    !without.includes("token") && { head: "Token", cell: (row) => toToken(row.chainId, row) },
    {
      head: "Units",
      cell: ({ quantityFillable }) => formatCount(quantityFillable),
      isNumber: true,
    },
    !without.includes("maker") && {
      head: "Seller",
      cell: ({ chainId, maker }) => toWallet(chainId, maker),
    },
    { head: "Marketplace", cell: ({ marketplace }) => marketplaceName(marketplace), isMinor: true },
    {
      head: "Ends",
      cell: ({ expiresAt }) => moment(expiresAt, now),
      isNumber: true,
      isMinor: true,
    },
  ];
  return table(
    rows,
    columns.filter((one) => one !== false),
    { caption, empty, keyOf: ({ askId }) => askId },
  );
}

export function bidsTable(rows: readonly BidRow[], options: Options): Html {
  const { now, caption, without = [], empty = "No offers." } = options;
  const columns: (Column<BidRow> | false)[] = [
    {
      head: "Offer",
      isHead: true,
      cell: ({ urls, priceWei, currency, usd }) =>
        html`<a href="${urls.bid}">${amount({ wei: priceWei, symbol: currency.symbol, usd })}</a>`,
    },
    {
      head: "Seller receives",
      isNumber: true,
      isMinor: true,
      cell: ({ sellerNetWei, currency }) => amount({ wei: sellerNetWei, symbol: currency.symbol }),
    },
    { head: "Status", cell: ({ status, inactiveReason }) => statusMark(status, inactiveReason) },
    !without.includes("collection") && {
      head: "Collection",
      cell: ({ chainId, collection }) => toCollection(chainId, collection),
    },
    !without.includes("token") && {
      head: "For",
      cell: ({ chainId, contract, tokenId }) =>
        tokenId === null ? "any token" : toToken(chainId, { contract, tokenId }),
    },
    {
      head: "Units",
      cell: ({ quantityRemaining }) => formatCount(quantityRemaining),
      isNumber: true,
    },
    !without.includes("maker") && {
      head: "Bidder",
      cell: ({ chainId, maker }) => toWallet(chainId, maker),
    },
    {
      head: "Ends",
      cell: ({ expiresAt }) => moment(expiresAt, now),
      isNumber: true,
      isMinor: true,
    },
  ];
  return table(
    rows,
    columns.filter((one) => one !== false),
    { caption, empty, keyOf: ({ bidId }) => bidId },
  );
}
