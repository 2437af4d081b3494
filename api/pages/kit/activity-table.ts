import type { z } from "zod";
import type { ActivityItem } from "#api/v1/activity.ts";
import { chainNames } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { bidLink, listingLink, saleLink, toCollection, toTransaction, toWallet } from "./links.ts";
import { picturedToken, withPicture } from "./media.ts";
import { amount, moment, none } from "./number.ts";
import { type TableColumn, table } from "./panel.ts";
import { marketplaceName } from "./text.ts";

type Item = z.output<typeof ActivityItem>;

type Options = {
  readonly now: Date;
  readonly caption: string;
  /** Rows are of several chains. */
  readonly hasChains?: boolean;
  /** Columns that would say the same in every row. */
  readonly without?: readonly ("collection" | "token")[];
  /** New rows arrive at the top while the page is open. */
  readonly isLive?: boolean;
  /** Every event has a row. By default the transfers of a sale are in its row. */
  readonly isWhole?: boolean;
  readonly empty?: string;
};

/** What happened, newest first. */
export function activityTable(items: readonly Item[], options: Options): Html {
  const { now, caption, without = [], hasChains, isLive = false, isWhole = false } = options;
  const { empty = "Nothing happened yet." } = options;
  const columns: (TableColumn<Item> | false)[] = [
    {
      name: "kind",
      head: "What",
      cell: kindOf,
      isHead: true,
      isPlain: true,
      ...(!without.includes("token") && { line: "below" as const }),
    },
    !without.includes("token") && {
      name: "token",
      head: "Token",
      cell: tokenOf,
      line: "start",
    },
    { name: "price", head: "Price", cell: priceOf, isNumber: true },
    !without.includes("collection") && {
      name: "collection",
      head: "Collection",
      cell: collectionOf,
      isPlain: true,
    },
    hasChains === true && {
      name: "chain",
      head: "Chain",
      cell: ({ chainId }) => chainNames[chainId],
      isPlain: true,
    },
    {
      name: "from",
      head: "From",
      cell: ({ chainId, from }) => toWallet(chainId, from),
      isMinor: true,
    },
    {
      name: "to",
      head: "To",
      cell: ({ chainId, to }) => (to === null ? none : toWallet(chainId, to)),
      isMinor: true,
    },
    {
      name: "marketplace",
      head: "Marketplace",
      cell: ({ marketplace }) => (marketplace === null ? none : marketplaceName(marketplace)),
      isMinor: true,
    },
    {
      name: "transaction",
      head: "Transaction",
      cell: ({ chainId, txHash }) => toTransaction(chainId, txHash),
      isMinor: true,
    },
    {
      name: "time",
      head: "When",
      cell: ({ timestamp }) => moment(timestamp, now),
      isNumber: true,
      isPlain: true,
    },
  ];
  return table(
    isWhole ? items : withoutSold(items),
    columns.filter((one) => one !== false),
    {
      caption,
      keyOf: eventKey,
      dealOf,
      contractOf: ({ chainId, contract }) => contract && `${chainId}/${contract}`,
      empty,
      ...(isLive && { id: "live-rows" }),
    },
  );
}

/** A token that a transaction sold or moved, by which `assets/live-row.js` finds the sale of a transfer, too. */
const dealOf = ({ type, txHash, contract, tokenId }: Item): string | null =>
  type === "sale" || type === "transfer" ? `${txHash} ${contract} ${tokenId}` : null;

/** Without transfers that a sale of the same transaction tells: from its seller, or to its buyer. */
function withoutSold(items: readonly Item[]): readonly Item[] {
  const sales = items.filter(({ type }) => type === "sale");
  const isSold = (one: Item) =>
    sales.some(
      (sale) => dealOf(sale) === dealOf(one) && (sale.from === one.from || sale.to === one.to),
    );
  return items.filter((one) => one.type !== "transfer" || !isSold(one));
}

/** Tells an event on a chain, or an order, from every other, as `assets/live-row.js` does. */
function eventKey(item: Item): string {
  const { id, type, txHash, saleId, orderHash } = item;
  if (txHash === null) return `${type} ${orderHash}`;
  return type === "sale" ? `sale ${saleId}` : id;
}

/** The word links to the page of the row. */
function kindOf({ type, chainId, saleId, orderId }: Item): Html {
  const word = html`<span class="kind ${type}">${type}</span>`;
  if (saleId !== null) return html`<a href="${saleLink(chainId, saleId)}">${word}</a>`;
  if (orderId === null) return word;
  const link = type === "offer" ? bidLink(chainId, orderId) : listingLink(chainId, orderId);
  return html`<a href="${link}">${word}</a>`;
}

function collectionOf({ chainId, collection }: Item): Html {
  return collection === null ? none : toCollection(chainId, collection);
}

function tokenOf({ chainId, contract, tokenId, quantity }: Item): Html {
  if (contract === null) return html`<span class="quiet">any</span>`;
  if (tokenId === null)
    return withPicture({ chainId, contract }, html`<span class="quiet">any</span>`);
  const many =
    quantity !== null && quantity !== "1" && html` <span class="quiet">× ${quantity}</span>`;
  return picturedToken({ chainId, contract, tokenId }, many);
}

function priceOf({ priceWei, currency, usd }: Item): Html {
  return amount({ wei: priceWei, symbol: currency?.symbol ?? null, usd });
}

/** Says whether the page follows the feed, with a switch. Shown by the script, since nothing is live without it. */
export const liveSwitch: Html = html`<span class="live" id="live" hidden><span class="state" role="status">connecting</span><span class="count" aria-hidden="true"></span><button type="button">Pause</button></span>`;

/** A link to a list of activity, of some types. */
export const activityKinds: readonly (readonly [value: string, text: string])[] = [
  ["", "Everything"],
  ["sale", "Sales"],
  ["listing", "Listings"],
  ["offer", "Offers"],
  ["transfer,mint,burn", "Transfers"],
  ["cancel", "Cancels"],
];

/** The types that a page was asked for; "": all. */
export const chosenKind = (asked: string): string =>
  activityKinds.find(([value]) => value === asked)?.[0] ?? "";
