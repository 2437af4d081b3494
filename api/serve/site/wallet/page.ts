import { chainNames } from "#chains/index.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { listActivity } from "#api/serve/v1/activity/list.ts";
import { listBids } from "#api/serve/v1/bids/list.ts";
import { listListings } from "#api/serve/v1/listings/list.ts";
import { walletTokens } from "#api/serve/v1/wallets/tokens.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { activityTable, liveSwitch } from "../parts/activity-table.ts";
import { bidsTable, listingsTable } from "../parts/orders-table.ts";
import { nextPage, panel, tabs } from "../parts/panel.ts";
import { shortHex } from "../parts/text.ts";
import { exposureView } from "./exposure.ts";
import { walletView } from "./links.ts";
import { tokensView } from "./tokens.ts";

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
  const { chainId, parameter, read, key } = visit;
  // Refuses what is no address, whatever the view; its answer is cached for the view of the tokens.
  await read(walletTokens, {
    params: { wallet: key("wallet") },
    query: { chainId: String(chainId), per_page: "1" },
  });
  const wallet = key("wallet").toLowerCase();
  const asked = parameter("view");
  const view: View = Object.hasOwn(views, asked) ? (asked as View) : "tokens";
  const body = html`<header class="token-head"><p class="facts"><span>Wallet</span><span>${chainNames[chainId]}</span></p>
<h1><span class="address">${wallet}</span></h1></header>
${tabs(
  "Views of the wallet",
  (Object.keys(views) as View[]).map((one) => ({
    href: walletView(visit, wallet, { view: one === "tokens" ? "" : one }),
    text: views[one],
    isCurrent: one === view,
  })),
)}
${await bodies[view](visit, wallet)}`;
  return { title: `Wallet ${shortHex(wallet)} · ${views[view]}`, body, live: { wallet } };
}

async function listingsView(visit: Visit, maker: string): Promise<Html> {
  const { chainId, read, parameter, now } = visit;
  const cursor = parameter("cursor");
  const { data, meta } = await read(listListings, {
    query: {
      chainId: String(chainId),
      maker,
      status: "all",
      sort: "created_at",
      cursor: cursor || undefined,
      per_page: "50",
    },
  });
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "listings",
    title: "Listings",
    body: html`${listingsTable(data, { now, caption: "Its listings, the newest first", without: ["maker"] })}${nextPage(next && walletView(visit, maker, { view: "listings", cursor: next }))}`,
  });
}

async function offersView(visit: Visit, maker: string): Promise<Html> {
  const { chainId, read, parameter, now } = visit;
  const cursor = parameter("cursor");
  const { data, meta } = await read(listBids, {
    query: {
      chainId: String(chainId),
      maker,
      status: "all",
      sort: "created_at",
      cursor: cursor || undefined,
      per_page: "50",
    },
  });
  const next = meta?.next_cursor ?? null;
  return panel({
    id: "offers",
    title: "Offers",
    body: html`${bidsTable(data, { now, caption: "Its offers, the newest first", without: ["maker"] })}${nextPage(next && walletView(visit, maker, { view: "offers", cursor: next }))}`,
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
