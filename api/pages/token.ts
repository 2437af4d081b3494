import type { z } from "zod";
import { chainNames } from "#chains/index.ts";
import { type ActivityItem, tokenActivity } from "../v1/activity.ts";
import { type Token, token } from "../v1/collections/token.ts";
import { type TraitType, traits } from "../v1/collections/traits.ts";
import { listBids } from "../v1/orders/bids.ts";
import { listListings } from "../v1/orders/listings.ts";
import { listSales } from "../v1/sales.ts";
import { uncoveredPage } from "./collection/page.ts";
import { type Html, html } from "./kit/html.ts";
import {
  bidLink,
  chainTools,
  collectionLink,
  listingLink,
  saleLink,
  toCollection,
  tokenLink,
  toTransaction,
  toWallet,
} from "./kit/links.ts";
import { tokenMedia } from "./kit/media.ts";
import {
  amount,
  coinSymbol,
  exactTime,
  formatCount,
  formatShare,
  moment,
  none,
} from "./kit/number.ts";
import { details, figures, panel, table } from "./kit/panel.ts";
import { amountLine, type Card, type Preview } from "./kit/preview.ts";
import { foreignText, marketplaceName, nameOr, plainText, shortHex, shortId } from "./kit/text.ts";
import type { CardOf, PageContent, Visit } from "./kit/visit.ts";
import { pastToken } from "./past/past-token.ts";
import { askedMoment, timeBar } from "./past/time-bar.ts";
import { activityPanel, listingsPanel, offersPanel, pricesPanel } from "./token-panels.ts";
import { buyPicks, tokenTrades } from "./trades.ts";

const maxDescription = 1_000;

/** A token: what it is, who wants how much for it, and what happened to it. */
export function tokenPage(visit: Visit): Promise<PageContent> {
  return coveredPage(visit).catch((error: unknown) => uncoveredPage(visit, error));
}

async function readToken({ chainId, key, read }: Parameters<CardOf>[0]): Promise<ShownToken> {
  const params = { collection: key("collection"), tokenId: key("tokenId") };
  return (await read(token, { params, query: { chainId: String(chainId) } })).data;
}

const ownName = ({ name, tokenId }: ShownToken): string =>
  plainText(name ?? `#${shortId(tokenId)}`);

export const tokenCard: CardOf = async (visit) => cardOf(await readToken(visit));

async function coveredPage(visit: Visit): Promise<PageContent> {
  const { chainId } = visit;
  const row = await readToken(visit);
  const { contract, tokenId } = row;
  const { name, slug } = row.collection;
  const own = ownName(row);
  const title = `${own} · ${name ?? slug ?? shortHex(contract)}`;
  if (askedMoment(visit) !== "") {
    const past = await pastToken(visit, row, nameOfToken(row));
    const preview = { canonical: tokenLink(chainId, contract, tokenId) };
    return { ...past, title: `${title} · as it was`, preview, isUnlisted: true };
  }
  return {
    title,
    description: row.description,
    preview: previewOf(row),
    body: await bodyOf(visit, row, own),
    live: { collection: contract, token: tokenId },
  };
}

async function bodyOf(visit: Visit, row: ShownToken, title: string): Promise<Html> {
  const { chainId, read, now } = visit;
  const { contract, tokenId, collection } = row;
  const chain = { chainId: String(chainId) };
  const own = { ...chain, collection: contract, token_id: tokenId };
  const [listings, bids, sales, activity, known] = await Promise.all([
    read(listListings, { query: { ...own, per_page: "20" } }),
    read(listBids, { query: { ...own, per_page: "20" } }),
    read(listSales, { query: { ...own, per_page: "50" } }),
    read(tokenActivity, {
      params: { collection: contract, tokenId },
      query: { ...chain, per_page: "30" },
    }),
    read(traits, { params: { collection: collection.slug ?? contract }, query: chain }),
  ]);
  return html`<div class="token"><div>
<section class="panel" aria-labelledby="media"><h2 id="media" class="unseen">Media</h2>${tokenMedia({ chainId, contract, tokenId, imageUrl: row.media.imageUrl }, row.media, title)}</section>
</div><div>
${head(row, now)}
${timeBar(visit, {})}
${listingsPanel(listings, now, buyPicks({ chainId, ...collection }))}
${offersPanel(bids, now)}
${pricesPanel(sales, now)}
${activityPanel(activity, now)}
${provenance(row, activity.data)}
</div><div>
${attributesPanel(row, known.data.traitTypes)}
</div></div>`;
}

function cardOf(row: ShownToken): Card {
  const { chainId, contract, tokenId, listing, bestOffer, lastSale, collection, media } = row;
  return {
    name: ownName(row),
    about: plainText(collection.name ?? collection.slug ?? contract),
    image: { chainId, contract, tokenId, imageUrl: media.imageUrl },
    figures: [
      amountLine(listing?.priceWei, listing?.currency.symbol ?? null, "Price "),
      amountLine(bestOffer?.priceWei, bestOffer?.currency.symbol ?? null, "best offer "),
      amountLine(lastSale?.priceWei, lastSale?.currency.symbol ?? null, "last sale "),
    ].filter((one) => one !== null),
  };
}

function previewOf(row: ShownToken): Preview {
  const { chainId, contract, tokenId, listing } = row;
  const symbol = listing?.currency.symbol ?? null;
  const card = cardOf(row);
  return {
    ...{ canonical: tokenLink(chainId, contract, tokenId), card },
    product:
      listing === null || symbol === null
        ? undefined
        : {
            ...{ name: card.name, brand: card.about, sku: `${contract}/${tokenId}`, symbol },
            ...{ priceWei: listing.priceWei, expiresAt: listing.expiresAt },
          },
  };
}

function nameOfToken(row: ShownToken): Html {
  const { chainId, collection, contract, tokenId, name, standard } = row;
  return html`<header class="token-head">
<p class="facts">${toCollection(chainId, collection)}<span>${chainNames[chainId]}</span><span>${standard}</span><span title="Token id ${tokenId}">#${shortId(tokenId)}</span>${chainTools(chainId, { contract, tokenId })}</p>
<h1>${nameOr(name, `#${shortId(tokenId)}`)}${row.isBurned && html` <span class="mark bad">burned</span>`}</h1>
</header>`;
}

function head(row: ShownToken, now: Date): Html {
  const { chainId, description, owner, listing, bestOffer, lastSale, rarity } = row;
  return html`${nameOfToken(row)}
${tokenTrades(row)}
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
])}
${description !== null && description !== "" && html`<p class="description">${foreignText(description, maxDescription)}</p>`}`;
}

/** Attributes that are shown: anybody may mint a token with thousands. */
const maxAttributes = 60;

/** Attributes with the share of tokens that have them, and the floor of those. */
function attributesPanel(row: ShownToken, types: readonly TraitType[]): Html {
  const { chainId, collection, attributes, rarity } = row;
  if (attributes === null || attributes.length === 0) {
    const text = attributes === null ? "The metadata is not fetched yet." : "It has no attributes.";
    return panel({
      id: "attributes",
      title: "Attributes",
      body: html`<p class="empty">${text}</p>`,
    });
  }
  const values = new Map(
    types.flatMap(({ type, values }) =>
      values.map((one) => [`${type.trim().toLowerCase()}\n${one.value}`, one] as const),
    ),
  );
  const of = rarity?.of ?? 0;
  const link = collectionLink(chainId, collection.slug ?? collection.address);
  const shown = attributes.slice(0, maxAttributes).map((one) => ({
    ...one,
    known: values.get(`${one.trait_type.trim().toLowerCase()}\n${one.value}`),
  }));
  const rest = attributes.length - shown.length;
  return panel({
    id: "attributes",
    title: "Attributes",
    body: html`${table(
      shown,
      [
        { head: "Type", cell: ({ trait_type }) => foreignText(trait_type, 60), isHead: true },
        {
          head: "Value",
          line: "end",
          cell: ({ trait_type, value }) =>
            html`<a href="${link}&${new URLSearchParams({ [`traits[${trait_type}]`]: String(value) }).toString()}">${foreignText(String(value), 60)}</a>`,
        },
        {
          head: "Share",
          isNumber: true,
          cell: ({ known }) =>
            known === undefined || of === 0
              ? none
              : html`<span title="${formatCount(known.count)} tokens">${formatShare(Math.min(1, known.count / of))}</span>`,
        },
        {
          head: "Floor",
          isNumber: true,
          cell: ({ known }) =>
            amount({ wei: known?.floorWei, symbol: coinSymbol(chainId), usd: known?.usd }),
        },
      ],
      { caption: "Attributes" },
    )}${rest > 0 && html`<p class="about">And ${formatCount(rest)} more in its metadata.</p>`}`,
  });
}

type Item = z.output<typeof ActivityItem>;

/** Which events, orders and documents the figures of a token come from. */
function provenance(row: ShownToken, activity: readonly Item[]): Html {
  const { chainId, listing, bestOffer, lastSale, rarity, metadata, tokenUri } = row;
  const moved = activity.find(
    ({ type }) => type === "transfer" || type === "mint" || type === "burn",
  );
  return panel({
    id: "provenance",
    title: "Where the figures come from",
    body: details([
      [
        row.owner === null ? "Holders and supply" : "Owner",
        moved === undefined ? "its transfers" : eventOf(moved, "the last transfer"),
      ],
      listing !== null && [
        "Price",
        html`the seller's signed order <a class="hex" href="${listingLink(chainId, listing.askId)}" title="${listing.askId}">${shortHex(listing.askId)}</a>, checked against the chain`,
      ],
      bestOffer !== null && [
        "Best offer",
        html`the bidder's signed order <a class="hex" href="${bidLink(chainId, bestOffer.bidId)}" title="${bestOffer.bidId}">${shortHex(bestOffer.bidId)}</a>, covered by the bidder's balance`,
      ],
      lastSale !== null && [
        "Last sale",
        html`<a href="${saleLink(chainId, lastSale.saleId)}">the fill</a> in ${toTransaction(chainId, lastSale.txHash)}`,
      ],
      [
        "Name, media, attributes",
        metadata.status === "ok"
          ? html`<span title="${plainText(tokenUri ?? "", 500)}">the document at the token's URI</span>, fetched ${metadata.updatedAt === null ? "at an unknown time" : exactTime(metadata.updatedAt)}`
          : `nothing yet: fetching is ${metadata.status}${metadata.issue === null ? "" : `, ${metadata.issue}`}`,
      ],
      rarity !== null && [
        "Rarity",
        `OpenRarity over the attributes of ${formatCount(rarity.of)} tokens`,
      ],
    ]),
  });
}

function eventOf({ chainId, txHash, blockNumber, logIndex }: Item, what: string): Html {
  return html`${what}: event ${logIndex} of ${toTransaction(chainId, txHash)} in block ${blockNumber === null ? "" : formatCount(blockNumber)}`;
}

type ShownToken = z.output<typeof Token>;
