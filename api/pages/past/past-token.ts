import type { z } from "zod";
import { type Token, type TokenOwnership, token } from "#api/v1/collections/token.ts";
import { tokenHolders, tokenOwnership } from "#api/v1/collections/token-ownership.ts";
import { listBids } from "#api/v1/orders/bids.ts";
import type { Listing } from "#api/v1/orders/listings.ts";
import { listSales } from "#api/v1/sales.ts";
import { type Html, html } from "../kit/html.ts";
import { toWallet } from "../kit/links.ts";
import { picture } from "../kit/media.ts";
import { amount, formatCount } from "../kit/number.ts";
import { cutNote, figures, panel, table } from "../kit/panel.ts";
import type { PageContent, Visit } from "../kit/visit.ts";
import { pricesPanel } from "../token-panels.ts";
import { activeListingsAt, pastBidsPanel, pastListingsPanel } from "./past-orders.ts";
import { askedMoment, partThen, pastView, timeBar } from "./time-bar.ts";

type ShownToken = z.output<typeof Token>;

const left =
  "Name and picture are those of today. Attributes, rank and activity are not shown of a moment.";

/** A token as it was: who had it, and what was asked and offered for it. `head`: its name. */
export async function pastToken(
  visit: Visit,
  row: ShownToken,
  head: Html,
): Promise<Pick<PageContent, "body" | "status">> {
  const { chainId, contract, tokenId, media } = row;
  const make = () => viewAt(visit, row);
  const { body, point, status } = await pastView(make, "It did not exist then.");
  const image = { chainId, contract, tokenId, imageUrl: media.imageUrl };
  return {
    status,
    body: html`<div class="token"><div>
<section class="panel" aria-labelledby="media"><h2 id="media" class="unseen">Media</h2>${picture(image, "", "page")}</section>
</div><div>
${head}
${timeBar(visit, { point, left })}
${body}
</div></div>`,
  };
}

const without = ["collection", "token"] as const;

async function viewAt(visit: Visit, { contract, tokenId }: ShownToken) {
  const { chainId, read, now } = visit;
  const at = askedMoment(visit);
  const chain = { chainId: String(chainId) };
  const params = { collection: contract, tokenId };
  const own = { ...chain, collection: contract, token_id: tokenId, at, per_page: "20" };
  const { data: owned, meta } = await read(tokenOwnership, { params, query: { ...chain, at } });
  const [then, holders, listings, bids] = await Promise.all([
    partThen(read(token, { params, query: { ...chain, at } })),
    owned.owner === null ? read(tokenHolders, { params, query: { ...chain, at } }) : null,
    activeListingsAt(read, own),
    read(listBids, { query: own }),
  ]);
  // The clock of orders is the time that was named.
  const point = bids.meta?.at ?? meta?.at ?? null;
  const { at: _, ...sold } = own;
  const end = new Date(point?.clock ?? point?.time ?? now);
  // Sales of the moment itself are part of it.
  const until = new Date(end.getTime() + 1).toISOString();
  const sales = await read(listSales, { query: { ...sold, until } });
  const { data, meta: counts } = listings.answer;
  const prices = then?.data ?? { listing: data[0], bid: bids.data[0] };
  const body = html`${ownedFigures(visit, owned, prices)}
${holders !== null && holders.data.length > 0 && holdersPanel(visit, holders)}
${pastListingsPanel(listings, {
  ...{ caption: "Listings then, cheapest first", without },
  below: cutNote({ which: "first", shown: data.length, total: counts?.total }),
})}
${pastBidsPanel(bids.data, {
  ...{ title: "Active offers on this token then", caption: "Offers then, highest first", without },
  below: cutNote({ which: "first", shown: bids.data.length, total: bids.meta?.total }),
})}
${pricesPanel(sales, end)}`;
  return { body, point };
}

type Owned = z.output<typeof TokenOwnership>;
type Priced = Pick<z.output<typeof Listing>, "priceWei" | "currency"> & {
  readonly usd?: number | null;
};
/** By the token of then, with offers on its collection; else by its own orders alone. */
type Prices =
  | Readonly<Record<"listing" | "bestOffer" | "lastSale", Priced | null>>
  | Readonly<Record<"listing" | "bid", Priced | undefined>>;

function ownedFigures(
  { chainId }: Visit,
  { owner, isBurned, holders, supply, supplyExact }: Owned,
  prices: Prices,
): Html {
  const priceOf = (one: Priced | null | undefined) =>
    amount({ wei: one?.priceWei, symbol: one?.currency.symbol ?? null, usd: one?.usd });
  return figures([
    owner === null
      ? {
          label: isBurned ? "Holders, as it was burned" : "Holders",
          value: formatCount(holders),
          note: html`<data value="${supplyExact}">${formatCount(supply)} units</data>`,
        }
      : { label: "Owner", value: toWallet(chainId, owner) },
    { label: "Price", value: priceOf(prices.listing) },
    ...("bid" in prices
      ? [{ label: "Best offer on it", value: priceOf(prices.bid) }]
      : [
          { label: "Best offer", value: priceOf(prices.bestOffer) },
          { label: "Last sale", value: priceOf(prices.lastSale) },
        ]),
  ]);
}

type Holders = {
  readonly data: readonly { readonly address: string; readonly units: string }[];
  readonly meta?: { readonly next_cursor: string | null } | undefined;
};

function holdersPanel({ chainId }: Visit, { data, meta }: Holders): Html {
  const isCut = (meta?.next_cursor ?? null) !== null;
  return panel({
    id: "holders",
    title: "Holders then",
    body: html`${table(
      data,
      [
        { head: "Holder", cell: ({ address }) => toWallet(chainId, address), isHead: true },
        { head: "Units", cell: ({ units }) => formatCount(Number(units)), isNumber: true },
      ],
      { caption: "Holders then, by address" },
    )}${isCut && html`<p class="about">The first ${formatCount(data.length)}, by address.</p>`}`,
  });
}
