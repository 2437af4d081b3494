import type { z } from "zod";
import { type ChainId, chainNames } from "#chains/index.ts";
import { listActivity } from "../v1/activity.ts";
import { listBids } from "../v1/orders/bids.ts";
import { type Exposure, walletExposure } from "../v1/orders/exposure.ts";
import { listListings } from "../v1/orders/listings.ts";
import { type HeldToken, walletTokens } from "../v1/wallet-tokens.ts";
import { activityTable, liveSwitch } from "./kit/activity-table.ts";
import { type Html, html } from "./kit/html.ts";
import { itemGrid } from "./kit/item-grid.ts";
import { chainTools, pageLink, toCollection, toToken, walletLink } from "./kit/links.ts";
import { amount, formatCount } from "./kit/number.ts";
import { bidsTable, listingsTable } from "./kit/orders-table.ts";
import { nextPage, panel, table, tabs } from "./kit/panel.ts";
import { shortHex } from "./kit/text.ts";
import type { PageContent, Visit } from "./kit/visit.ts";
import { newestActivity } from "./market.ts";
import { pastWallet } from "./past/past-wallet.ts";
import { askedMoment, timeBar } from "./past/time-bar.ts";
import {
  bidEndPick,
  endButton,
  endPicks,
  listingEndPick,
  listPicks,
  revokeButton,
  tokenPick,
  walletTrades,
} from "./trades.ts";
import { walletFigures } from "./wallet-summary.ts";

type Row = z.output<typeof Exposure>;

/** Calldata of a cancel is long: few rows keep the page small. */
const perPage = "20";

const lacks: Record<NonNullable<Row["fillableWith"]>, string> = {
  token: "the token",
  token_approval: "the approval of the conduit",
  balance: "the money",
  allowance: "the allowance of the exchange",
};

/** What others could use of the wallet, and how to end it. */
async function exposureView(visit: Visit, wallet: string): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const { data, meta } = await read(walletExposure, {
    params: { wallet },
    query: {
      chainId: String(chainId),
      cursor: parameter("cursor") || undefined,
      per_page: perPage,
    },
  });
  const next = meta?.next_cursor ?? null;
  const columns = [
    { head: "What", isHead: true, cell: what },
    { head: "Of", cell: subject, isPlain: true, line: "end" as const },
    { head: "Why it matters", cell: why, isPlain: true },
    { head: "How to end it", isPlain: true, cell: (row: Row) => howToEnd(row, chainId, wallet) },
  ];
  return panel({
    id: "exposure",
    title: "Exposure",
    about:
      "Orders that nobody can fill now but anybody could once the wallet has what they lack, and approvals that are open. Each ends with a transaction from the wallet.",
    body: html`${table(data, columns, {
      caption: "What others could use of the wallet",
      empty: "No inactive order that could come back, and no open approval.",
    })}${nextPage(next && walletView(visit, wallet, { view: "exposure", cursor: next }))}`,
  });
}

function what({ listing, bid, approval }: Row): Html | string {
  const order = listing ?? bid;
  if (order === null) return approval?.of === "money" ? "Allowance" : "Approval";
  const href = listing?.urls.listing ?? bid?.urls.bid ?? "";
  const { priceWei, currency, usd } = order;
  const price = amount({ wei: priceWei, symbol: currency.symbol, usd });
  return html`${listing === null ? "Offer" : "Listing"} at <a href="${href}">${price}</a>`;
}

function subject({ listing, bid, approval }: Row): Html | string {
  const order = listing ?? bid;
  if (order === null)
    return html`<span title="${approval?.contract}">${shortHex(approval?.contract ?? "")}</span>`;
  const { chainId, contract, tokenId, collection } = order;
  return tokenId === null
    ? toCollection(chainId, collection)
    : toToken(chainId, { contract, tokenId });
}

function why({ fillableWith, approval }: Row): string {
  if (fillableWith !== null) return `Lacks ${lacks[fillableWith]}`;
  return approval?.of === "money"
    ? "The exchange may take money for signed offers"
    : "The conduit may move all tokens of the contract for signed listings";
}

function howToEnd({ end, ...row }: Row, chainId: ChainId, wallet: string): Html {
  const { approval } = row;
  const button = approval === null ? endButton(row) : revokeButton(chainId, wallet, approval);
  return html`${button}<details><summary>Its transaction</summary>
<p>Send to <code>${end.to}</code>:</p><p><code>${end.data}</code></p></details>`;
}

type Held = z.output<typeof HeldToken>;

/** Its tokens by collection. */
async function tokensView(visit: Visit, wallet: string): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const cursor = parameter("cursor");
  const { data, meta } = await read(walletTokens, {
    params: { wallet },
    query: { chainId: String(chainId), cursor: cursor || undefined, per_page: "50" },
  });
  if (data.length === 0)
    return html`<p class="empty">It holds no token of an indexed collection.</p>`;
  const groups = new Map<string, Held[]>();
  for (const token of data) {
    const known = groups.get(token.collection.address);
    if (known === undefined) groups.set(token.collection.address, [token]);
    else known.push(token);
  }
  const next = meta?.next_cursor ?? null;
  return html`${[...groups.values()].map((tokens, index) => group(tokens, index))}${listPicks(chainId, wallet)}${nextPage(next && walletView(visit, wallet, { cursor: next }))}`;
}

function group(tokens: readonly Held[], index: number): Html {
  const [first] = tokens;
  if (first === undefined) return html``;
  const { chainId, collection } = first;
  const cards = tokens.map((token) => ({
    token,
    listing: token.listing,
    pick: tokenPick(token),
    note: token.units === "1" ? undefined : html`${formatCount(Number(token.units))} units`,
  }));
  return panel({
    id: `collection-${index}`,
    title: toCollection(chainId, collection),
    aside: html`<span class="quiet">${formatCount(tokens.length)} shown</span>`,
    body: itemGrid(cards, chainId),
  });
}

/** A view of a wallet. */
function walletView(
  { chainId }: Visit,
  wallet: string,
  more: Readonly<Record<string, string>>,
): string {
  return pageLink(`/wallets/${wallet}`, { chainId, ...more });
}

const views = {
  tokens: "Tokens",
  listings: "Listings",
  offers: "Offers",
  activity: "Activity",
  exposure: "Exposure",
} as const;
type View = keyof typeof views;

const bodies: Record<View, (visit: Visit, wallet: string) => Promise<Html>> = {
  tokens: tokensView,
  listings: listingsView,
  offers: offersView,
  activity: activityView,
  exposure: exposureView,
};

/** An account: what it holds, offers and did. Every address has this page. */
export async function walletPage(visit: Visit): Promise<PageContent> {
  const { chainId, read, key } = visit;
  // The search asks for the name's owner, within its bounds, and leads to the wallet.
  if (/\.eth$/i.test(key("wallet")))
    return {
      title: "Wallet",
      body: html``,
      leadsTo: pageLink("/search", { q: key("wallet"), chainId }),
    };
  // Refuses what is no address, whatever the view; its answer is cached for the view of the tokens.
  await read(walletTokens, {
    params: { wallet: key("wallet") },
    query: { chainId: String(chainId), per_page: "1" },
  });
  const wallet = key("wallet").toLowerCase();
  if (visit.listed.length > 1) return walletOnAll(visit, wallet);
  if (askedMoment(visit) === "") return walletNow(visit, wallet);
  const past = await pastWallet(visit, wallet, nameOfWallet(chainId, wallet));
  const preview = { canonical: walletView(visit, wallet, {}) };
  return { ...past, title: `Wallet ${shortHex(wallet)} · as it was`, preview, isUnlisted: true };
}

/** What it is on each chain, and what it did on all. */
async function walletOnAll(visit: Visit, wallet: string): Promise<PageContent> {
  const { listed, now } = visit;
  const [own, recent] = await Promise.all([
    Promise.all(listed.map((chainId) => walletFigures({ ...visit, chainId }, wallet))),
    newestActivity(visit, { perPage: 40, wallet, cursor: visit.parameter("cursor") }),
  ]);
  const isLive = visit.parameter("cursor") === "";
  const link = (more: Record<string, string>) =>
    pageLink(`/wallets/${wallet}`, { chainId: "all", ...more });
  const body = html`${walletName(wallet, "All chains")}
${listed.map((chainId, place) =>
  panel({
    id: `chain-${chainId}`,
    title: chainNames[chainId],
    aside: html`<a href="${walletLink(chainId, wallet)}">Tokens and orders</a>`,
    body: own[place] ?? html``,
  }),
)}
${panel({
  id: "activity",
  title: "Activity",
  aside: isLive && liveSwitch,
  body: html`${activityTable(recent.rows, { now, caption: "What it did", isLive, hasChains: true })}${nextPage(recent.next && link({ cursor: recent.next }))}`,
})}`;
  const preview = { canonical: link({}) };
  return { title: `Wallet ${shortHex(wallet)} on all chains`, body, preview, live: { wallet } };
}

async function walletNow(visit: Visit, wallet: string): Promise<PageContent> {
  const asked = visit.parameter("view");
  const view: View = Object.hasOwn(views, asked) ? (asked as View) : "tokens";
  const link = (one: View) => walletView(visit, wallet, { view: one === "tokens" ? "" : one });
  const body = html`${nameOfWallet(visit.chainId, wallet)}
${await walletFigures(visit, wallet)}
${timeBar(visit, { parameters: { view } })}
${tabs(
  "Views of the wallet",
  (Object.keys(views) as View[]).map((one) => ({
    href: link(one),
    text: views[one],
    isCurrent: one === view,
  })),
)}
${await bodies[view](visit, wallet)}`;
  const preview = { canonical: link(view) };
  return { title: `Wallet ${shortHex(wallet)} · ${views[view]}`, body, preview, live: { wallet } };
}

/** What the orders of a wallet are asked by: all of them, the newest first. */
function ordersQuery({ chainId, parameter }: Visit, maker: string) {
  return {
    chainId: String(chainId),
    ...{ maker, status: "all", sort: "created_at" },
    cursor: parameter("cursor") || undefined,
    per_page: "50",
  };
}

const nameOfWallet = (chainId: ChainId, wallet: string): Html =>
  walletName(wallet, chainNames[chainId], chainTools(chainId, { address: wallet }));

const walletName = (wallet: string, where: string, tools?: Html): Html =>
  html`<header class="token-head"><p class="facts"><span>Wallet</span><span>${where}</span></p>
<h1><span class="address">${wallet}</span> ${tools}</h1></header>`;

async function listingsView(visit: Visit, maker: string): Promise<Html> {
  const { data, meta } = await visit.read(listListings, { query: ordersQuery(visit, maker) });
  const shown = { caption: "Its listings, the newest first", pickOf: listingEndPick };
  const rows = listingsTable(data, { now: visit.now, without: ["maker"], ...shown });
  return ordersPanel(visit, maker, "listings", rows, meta?.next_cursor ?? null);
}

async function offersView(visit: Visit, maker: string): Promise<Html> {
  const { data, meta } = await visit.read(listBids, { query: ordersQuery(visit, maker) });
  const shown = { caption: "Its offers, the newest first", pickOf: bidEndPick };
  const rows = bidsTable(data, { now: visit.now, without: ["maker"], ...shown });
  return ordersPanel(visit, maker, "offers", rows, meta?.next_cursor ?? null);
}

function ordersPanel(
  visit: Visit,
  maker: string,
  view: "listings" | "offers",
  rows: Html,
  next: string | null,
): Html {
  const { chainId } = visit;
  return panel({
    id: view,
    title: views[view],
    body: html`${walletTrades(chainId, maker)}${rows}${endPicks(chainId, maker)}${nextPage(next && walletView(visit, maker, { view, cursor: next }))}`,
  });
}

async function activityView(visit: Visit, wallet: string): Promise<Html> {
  const { chainId, read, parameter, now } = visit;
  const cursor = parameter("cursor");
  const { data, meta } = await read(listActivity, {
    query: { chainId: String(chainId), wallet, cursor: cursor || undefined, per_page: "50" },
  });
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "activity",
    title: "Activity",
    aside: cursor === "" && liveSwitch,
    body: html`${activityTable(data, { now, caption: "What it did", isLive: cursor === "" })}${nextPage(next && walletView(visit, wallet, { view: "activity", cursor: next }))}`,
  });
}
