import type { z } from "zod";
import type { presentBookOrder } from "#api/v1/orders/sides.ts";
import { chainNames } from "#chains/index.ts";
import { type Bid, bid } from "../v1/orders/bids.ts";
import { listing } from "../v1/orders/listings.ts";
import { acceptSteps, buySteps, cancelSteps } from "./fill-steps.ts";
import { type Html, html } from "./kit/html.ts";
import { bidLink, listingLink, toCollection, toToken, toWallet } from "./kit/links.ts";
import { picture } from "./kit/media.ts";
import { amount, exactTime, formatCount, formatShare, moment } from "./kit/number.ts";
import { statusMark, subjectOfSeveral } from "./kit/orders-table.ts";
import { details, figures, panel, table } from "./kit/panel.ts";
import { splitBar } from "./kit/plot.ts";
import { amountLine, type Card } from "./kit/preview.ts";
import { marketplaceName, plainText, shortId } from "./kit/text.ts";
import type { CardOf, PageContent, Visit } from "./kit/visit.ts";
import { bidTrades, listingTrades } from "./trades.ts";

const readListing = async ({ chainId, key, read }: Parameters<CardOf>[0]) =>
  (
    await read(listing, {
      params: { askId: key("askId") },
      query: { chainId: String(chainId) },
    })
  ).data;

const readBid = async ({ chainId, key, read }: Parameters<CardOf>[0]) =>
  (
    await read(bid, {
      params: { bidId: key("bidId") },
      query: { chainId: String(chainId) },
    })
  ).data;

const listingName = ({ tokenId }: { tokenId: string }) => `Listing of #${shortId(tokenId)}`;

const bidName = ({ tokenId, criteria }: z.output<typeof Bid>) =>
  `Offer for ${tokenId === null ? subjectOfSeveral(criteria) : `#${shortId(tokenId)}`}`;

export const listingCard: CardOf = async (visit) => {
  const row = await readListing(visit);
  return orderCard(row, listingName(row), row.tokenId);
};

export const bidCard: CardOf = async (visit) => {
  const row = await readBid(visit);
  return orderCard(row, bidName(row), row.tokenId);
};

/** `tokenId`: null of an offer on several. */
function orderCard(row: OrderRow, name: string, tokenId: string | null): Card {
  const { chainId, contract, collection, priceWei, currency, status } = row;
  const subject = { chainId, contract };
  return {
    ...{ name, about: plainText(collection.name ?? contract) },
    image: tokenId === null ? subject : { ...subject, tokenId },
    figures: [
      amountLine(priceWei, currency.symbol, "Price "),
      status === "active" ? null : status,
    ].filter((one) => one !== null),
  };
}

/** A listing: its terms, whether it can be filled, and how. */
export async function listingPage(visit: Visit): Promise<PageContent> {
  const { chainId, now } = visit;
  const row = await readListing(visit);
  const { askId, marketplace, buyableViaApi } = row;
  const body = html`${orderHead(row, { what: "Listing", reason: row.invalidReason, tokenId: row.tokenId, subject: toToken(chainId, row), now })}
${listingTrades(row)}
<div class="columns">${pricePanel(row, "The seller")}${panel({
    id: "terms",
    title: "Terms",
    body: details([
      ["Marketplace", marketplaceName(marketplace)],
      ["Buyable by this API", buyableViaApi ? "yes" : "no"],
      ["Units that the seller holds", formatCount(row.quantityFillable)],
      ...termsOf(row, now),
    ]),
  })}</div>
${buySteps({ chainId, askId, isBuyable: buyableViaApi, marketplace })}
${marketplace === "native" && cancelSteps("asks", chainId, askId)}`;
  const title = `${listingName(row)} · ${plainText(row.collection.name ?? row.contract)}`;
  const card = orderCard(row, listingName(row), row.tokenId);
  return { title, body, preview: { canonical: listingLink(chainId, askId), card } };
}

/** An offer: its terms, whether it can be accepted, and how. */
export async function bidPage(visit: Visit): Promise<PageContent> {
  const { chainId, now } = visit;
  const row = await readBid(visit);
  const { bidId, tokenId, contract, collection } = row;
  const subject =
    tokenId === null
      ? html`${subjectOfSeveral(row.criteria)} of ${toCollection(chainId, collection)}`
      : toToken(chainId, { contract, tokenId });
  const body = html`${orderHead(row, { what: "Offer", reason: row.inactiveReason, tokenId, subject, now })}
${bidTrades(row)}
<div class="columns">${pricePanel(row, "The seller who accepts it")}${panel({
    id: "terms",
    title: "Terms",
    body: details([
      ["For", tokenId === null ? subjectOfSeveral(row.criteria) : "one token"],
      ...stillMatching(row),
      [
        "Seller receives for a unit",
        amount({ wei: row.sellerNetWei, symbol: row.currency.symbol }),
      ],
      ...termsOf(row, now),
    ]),
  })}</div>
${acceptSteps({ chainId, bidId, isActive: row.status === "active", needsToken: tokenId === null })}
${cancelSteps("bids", chainId, bidId)}`;
  const title = `Offer on ${plainText(collection.name ?? contract)}`;
  const card = orderCard(row, bidName(row), tokenId);
  return { title, body, preview: { canonical: bidLink(chainId, bidId), card } };
}

/** Of a bid on traits: metadata changes, its tokens do not. */
function stillMatching({ criteria }: z.output<typeof Bid>): (readonly [string, string])[] {
  if (criteria === null || criteria.matchingCount === null) return [];
  const { matchingCount, tokenCount } = criteria;
  return [["With the traits now", `${formatCount(matchingCount)} of ${formatCount(tokenCount)}`]];
}

type OrderRow = ReturnType<typeof presentBookOrder>;

type Head = {
  readonly what: "Listing" | "Offer";
  readonly reason: string | null;
  /** null: an offer on several. */
  readonly tokenId: string | null;
  readonly subject: Html;
  readonly now: Date;
};

/** Price, state and times of an order. */
function orderHead(row: OrderRow, { what, reason, tokenId, subject, now }: Head): Html {
  const { chainId, collection, status, priceWei, currency, usd, maker, quantity } = row;
  const { contract } = row;
  const of = tokenId === null ? { chainId, contract } : { chainId, contract, tokenId };
  return html`<header class="subject">${picture(of, "", "head")}<div><p class="facts">${toCollection(chainId, collection)}<span>${chainNames[chainId]}</span></p>
<h1>${what} ${what === "Listing" ? "of" : "for"} ${subject}</h1></div></header>
${figures([
  { label: "Price of a unit", value: amount({ wei: priceWei, symbol: currency.symbol, usd }) },
  {
    label: "State",
    value: statusMark(status, null),
    note: html`${reason === null ? stateText(status) : statusReason(reason)}`,
  },
  {
    label: "Left",
    value: html`${formatCount(row.quantityRemaining)} <span class="unit">of ${formatCount(quantity)}</span>`,
  },
  { label: what === "Listing" ? "Seller" : "Bidder", value: toWallet(chainId, maker) },
  { label: "Ends", value: moment(row.expiresAt, now), note: html`${exactTime(row.expiresAt)}` },
])}`;
}

const stateText = (status: OrderRow["status"]): string =>
  status === "active" ? "it can be filled now" : `it is ${status} and cannot be filled`;

function statusReason(reason: string): Html {
  return html`it cannot be filled now: ${statusMark("inactive", reason)}`;
}

function termsOf(row: OrderRow, now: Date): (readonly [string, Html | string])[] {
  const { standard, startsAt, createdAt, updatedAt, orderHash, protocol, contract } = row;
  return [
    [
      "Contract",
      html`<span class="hex" title="${contract}">${contract.slice(0, 10)}…${contract.slice(-4)}</span> ${standard}`,
    ],
    ["Valid from", html`<span title="${exactTime(startsAt)}">${moment(startsAt, now)}</span>`],
    ["Seen first", moment(createdAt, now)],
    ["State changed", moment(updatedAt, now)],
    ["Exchange", `${protocol.name} ${protocol.version}`],
    ["Order hash", html`<span class="hex" title="${orderHash}">${orderHash.slice(0, 18)}…</span>`],
  ];
}

const kinds = { service: "Marketplace fee", royalty: "Royalty", other: "Other recipient" } as const;

/** How the price of a unit is divided. `seller` names who gets the rest. */
function pricePanel({ chainId, priceWei, fees, currency }: OrderRow, seller: string): Html {
  const price = BigInt(priceWei);
  const rest = price - fees.reduce((sum, { wei }) => sum + BigInt(wei), 0n);
  const rows = [
    { kind: "seller", text: seller, to: null, wei: rest },
    ...fees.map(({ kind, recipient, wei }) => ({
      kind,
      text: kinds[kind],
      to: recipient,
      wei: BigInt(wei),
    })),
  ];
  const shareOf = (wei: bigint) =>
    price === 0n ? 0 : Math.max(0, Number((wei * 10_000n) / price) / 10_000);
  const parts = rows.map(({ kind, text, wei }) => ({ kind, text, share: shareOf(wei) }));
  const label = `Of the price of a unit: ${parts.map(({ text, share }) => `${text} ${formatShare(share)}`).join(", ")}`;
  return panel({
    id: "payment",
    title: "Who receives what",
    body: html`${splitBar(parts, label)}
${table(
  rows,
  [
    { head: "Part", cell: ({ text }) => text, isHead: true },
    {
      head: "To",
      cell: ({ to, text }) => (to === null ? text.toLowerCase() : toWallet(chainId, to)),
    },
    {
      head: "Amount",
      cell: ({ wei }) => amount({ wei: String(wei), symbol: currency.symbol }),
      isNumber: true,
    },
    { head: "Share", cell: ({ wei }) => formatShare(shareOf(wei)), isNumber: true },
  ],
  { caption: "Parts of the price of a unit" },
)}`,
  });
}
