import { chainNames } from "#chains/index.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { tokenActivity } from "#api/serve/v1/activity/token-activity.ts";
import { listBids } from "#api/serve/v1/bids/list.ts";
import { token } from "#api/serve/v1/collections/token.ts";
import { traits } from "#api/serve/v1/collections/traits.ts";
import { listListings } from "#api/serve/v1/listings/list.ts";
import { listSales } from "#api/serve/v1/sales/list.ts";
import { uncoveredPage } from "../collection/uncovered.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { amount } from "../parts/amount.ts";
import { bidLink, listingLink, saleLink } from "../parts/links.ts";
import { toCollection, toWallet } from "../parts/links-to.ts";
import { marketplaceName } from "../parts/marketplace-name.ts";
import { tokenMedia } from "../parts/media.ts";
import { moment } from "../parts/moment.ts";
import { formatCount, none } from "../parts/number.ts";
import { figures, panel } from "../parts/panel.ts";
import { foreignText, nameOr, plainText, shortHex, shortId } from "../parts/text.ts";
import { attributesPanel } from "./attributes.ts";
import { activityPanel, listingsPanel, offersPanel, pricesPanel } from "./panels.ts";
import { provenance } from "./provenance.ts";
import type { TokenRow } from "./row.ts";

const maxDescription = 1_000;

/** A token: what it is, who wants how much for it, and what happened to it. */
export function tokenPage(visit: Visit): Promise<PageContent> {
  return coveredPage(visit).catch((error: unknown) => uncoveredPage(visit, error));
}

async function coveredPage(visit: Visit): Promise<PageContent> {
  const { chainId, key, read, now } = visit;
  const chain = { chainId: String(chainId) };
  const params = { collection: key("collection"), tokenId: key("tokenId") };
  const { data: row } = await read(token, { params, query: chain });
  const { contract, tokenId } = row;
  const { name, slug } = row.collection;
  const own = { ...chain, collection: contract, token_id: tokenId };
  const [listings, bids, sales, activity, known] = await Promise.all([
    read(listListings, { query: { ...own, per_page: "20" } }),
    read(listBids, { query: { ...own, per_page: "20" } }),
    read(listSales, { query: { ...own, per_page: "50" } }),
    read(tokenActivity, {
      params: { collection: contract, tokenId },
      query: { ...chain, per_page: "30" },
    }),
    read(traits, { params: { collection: slug ?? contract }, query: chain }),
  ]);
  const title = plainText(row.name ?? `#${shortId(tokenId)}`);
  const body = html`<div class="token"><div>
${panel({ id: "media", title: "Media", body: tokenMedia(row.media, title) })}
${attributesPanel(row, known.data.traitTypes)}
</div><div>
${head(row, now)}
${listingsPanel(listings, now)}
${offersPanel(bids, now)}
${pricesPanel(sales, now)}
${activityPanel(activity, now)}
${provenance(row, activity.data)}
</div></div>`;
  return {
    title: `${title} · ${name ?? slug ?? shortHex(contract)}`,
    description: row.description,
    body,
    live: { collection: contract, token: tokenId },
  };
}

function head(row: TokenRow, now: Date): Html {
  const {
    chainId,
    collection,
    tokenId,
    name,
    description,
    standard,
    owner,
    listing,
    bestOffer,
    lastSale,
    rarity,
  } = row;
  return html`<header class="token-head">
<p class="facts">${toCollection(chainId, collection)}<span>${chainNames[chainId]}</span><span>${standard}</span><span title="Token id ${tokenId}">#${shortId(tokenId)}</span></p>
<h1>${nameOr(name, `#${shortId(tokenId)}`)}${row.isBurned && html` <span class="mark bad">burned</span>`}</h1>
${description !== null && description !== "" && html`<p class="description">${foreignText(description, maxDescription)}</p>`}
</header>
${figures([
  {
    label: "Price",
    value:
      listing === null
        ? html`<span class="quiet">Not listed</span>`
        : html`<a href="${listingLink(chainId, listing.askId)}">${amount({ wei: listing.priceWei, symbol: listing.currency.symbol, usd: listing.usd })}</a>`,
    note:
      listing !== null &&
      html`at ${marketplaceName(listing.marketplace)}, ends ${moment(listing.expiresAt, now)}`,
  },
  {
    label: "Best offer",
    value:
      bestOffer === null
        ? none
        : html`<a href="${bidLink(chainId, bestOffer.bidId)}">${amount({ wei: bestOffer.priceWei, symbol: bestOffer.currency.symbol, usd: bestOffer.usd })}</a>`,
    note:
      bestOffer !== null &&
      html`seller receives ${amount({ wei: bestOffer.sellerNetWei, symbol: bestOffer.currency.symbol })}`,
  },
  {
    label: "Last sale",
    value:
      lastSale === null
        ? none
        : html`<a href="${saleLink(chainId, lastSale.saleId)}">${amount({ wei: lastSale.priceWei, symbol: lastSale.currency.symbol, usd: lastSale.usd })}</a>`,
    note: lastSale !== null && moment(lastSale.timestamp, now),
  },
  {
    label: "Rarity rank",
    value:
      rarity === null
        ? none
        : html`${formatCount(rarity.rank)} <span class="unit">of ${formatCount(rarity.of)}</span>`,
    note: rarity !== null && html`score ${rarity.score.toFixed(3)}`,
  },
  owner === null
    ? {
        label: "Holders",
        value: formatCount(row.holders),
        note: html`<data value="${row.supplyExact}">${formatCount(row.supply)} units</data>`,
      }
    : { label: "Owner", value: toWallet(chainId, owner) },
])}`;
}
