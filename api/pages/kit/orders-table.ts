import type { z } from "zod";
import type { Bid } from "#api/v1/orders/bids.ts";
import type { Listing } from "#api/v1/orders/listings.ts";
import type { OrderStatus } from "#projections/domain/orders/order-status.ts";
import { type Html, html } from "./html.ts";
import { toCollection, toWallet } from "./links.ts";
import { picturedToken, withPicture } from "./media.ts";
import { amount, formatCount, moment } from "./number.ts";
import { type TableColumn, table } from "./panel.ts";
import { marketplaceName } from "./text.ts";
import { type PickedRow, pickBox } from "./trade-button.ts";

type ListingRow = z.output<typeof Listing>;
type BidRow = z.output<typeof Bid>;

/** What a bid on several tokens is for, in words. */
export function subjectOfSeveral(criteria: BidRow["criteria"]): string {
  if (criteria === null) return "any token";
  const { traits, tokenCount } = criteria;
  const tokens = `${formatCount(tokenCount)} ${tokenCount === 1 ? "token" : "tokens"}`;
  if (traits === null) return `any of ${tokens}`;
  return `any of ${tokens} with ${traits.map(traitText).join(", ")}`;
}

function traitText(one: NonNullable<NonNullable<BidRow["criteria"]>["traits"]>[number]): string {
  if ("value" in one) return `${one.type} ${one.value}`;
  if (one.min === null) return `${one.type} up to ${one.max}`;
  return one.max === null ? `${one.type} from ${one.min}` : `${one.type} ${one.min} to ${one.max}`;
}

type Options = {
  /** Null: rows of an earlier moment. */
  readonly now: Date | null;
  readonly caption: string;
  /** Columns that would say the same in every row. */
  readonly without?: readonly ("collection" | "token" | "maker")[];
  readonly empty?: string;
};

/** `pickOf`: what is traded when a row is picked with others. */
type Picking<Row> = { readonly pickOf?: (row: Row) => PickedRow | undefined };

/** The box of a row that can be picked. */
function boxOf<Row>({ pickOf }: Picking<Row>, row: Row): Html | false {
  const pick = pickOf?.(row);
  return pick !== undefined && pickBox(pick);
}

export function listingsTable(
  rows: readonly ListingRow[],
  options: Options & Picking<ListingRow>,
): Html {
  const { now, caption, without = [], empty = "No listings." } = options;
  const columns: (TableColumn<ListingRow> | false)[] = [
    {
      head: "Price",
      isHead: true,
      isPlain: true,
      line: without.includes("token") ? "start" : "end",
      cell: (row) =>
        html`${boxOf(options, row)}<a href="${row.urls.listing}">${amount({ wei: row.priceWei, symbol: row.currency.symbol, usd: row.usd })}</a>`,
    },
    {
      head: "Status",
      cell: ({ status, invalidReason }) => statusMark(status, invalidReason),
      isPlain: true,
      line: without.includes("token") ? "end" : "below",
    },
    !without.includes("collection") && {
      head: "Collection",
      isPlain: true,
      cell: ({ chainId, collection }) => toCollection(chainId, collection),
    },
    !without.includes("token") && {
      head: "Token",
      cell: (row) => picturedToken(row),
      line: "start",
    },
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

export function bidsTable(rows: readonly BidRow[], options: Options & Picking<BidRow>): Html {
  const { now, caption, without = [], empty = "No offers." } = options;
  const columns: (TableColumn<BidRow> | false)[] = [
    {
      head: "Offer",
      isHead: true,
      isPlain: true,
      line: without.includes("token") ? "start" : "end",
      cell: (row) =>
        html`${boxOf(options, row)}<a href="${row.urls.bid}">${amount({ wei: row.priceWei, symbol: row.currency.symbol, usd: row.usd })}</a>`,
    },
    {
      head: "Seller receives",
      isNumber: true,
      isMinor: true,
      cell: ({ sellerNetWei, currency }) => amount({ wei: sellerNetWei, symbol: currency.symbol }),
    },
    {
      head: "Status",
      cell: ({ status, inactiveReason }) => statusMark(status, inactiveReason),
      isPlain: true,
      line: without.includes("token") ? "end" : "below",
    },
    !without.includes("collection") && {
      head: "Collection",
      isPlain: true,
      cell: ({ chainId, collection }) => toCollection(chainId, collection),
    },
    !without.includes("token") && {
      head: "For",
      line: "start",
      cell: ({ chainId, contract, tokenId, criteria }) =>
        tokenId === null
          ? withPicture({ chainId, contract }, html`${subjectOfSeveral(criteria)}`)
          : picturedToken({ chainId, contract, tokenId }),
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

const tones: Partial<Record<OrderStatus, string>> = {
  active: "good",
  inactive: "wait",
  cancelled: "bad",
};

/** Why an order cannot be filled now, in words. */
const reasons: Readonly<Record<string, string>> = {
  not_started: "it has not started yet",
  pp_retired: "its exchange contract is retired",
  not_owner: "the maker does not hold the token",
  not_approved: "the maker has not approved the conduit",
  conduit_channel_closed: "the conduit is closed to the exchange",
  contract_signature_invalid: "the maker's contract does not accept the signature",
  transfer_restricted:
    "the collection, or a contract that would be paid or get the token, refuses the transfer",
  partner_invalidated: "its marketplace calls it invalid",
  superseded: "the maker also lists the token for less",
  token_burned: "the token is burned",
  insufficient_balance: "the bidder's balance does not cover it",
  insufficient_allowance: "the bidder's allowance does not cover it",
};

const reasonText = (reason: string): string => reasons[reason] ?? reason.replaceAll("_", " ");

/** The state of an order, with the reason why it is inactive. */
export function statusMark(status: OrderStatus, reason: string | null): Html {
  return html`<span class="mark ${tones[status] ?? ""}">${status}</span>${reason !== null && html` <span class="quiet">${reasonText(reason)}</span>`}`;
}
