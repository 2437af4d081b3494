import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import { walletTokens } from "#api/serve/v1/wallets/tokens.ts";
import type { HeldToken } from "#api/serve/views/held-token.ts";
import type { Visit } from "../page/visit.ts";
import { itemGrid } from "../parts/item-grid.ts";
import { toCollection } from "../parts/links-to.ts";
import { formatCount } from "../parts/number.ts";
import { nextPage, panel } from "../parts/panel.ts";
import { walletView } from "./links.ts";

type Held = z.output<typeof HeldToken>;

/** Its tokens by collection. */
export async function tokensView(visit: Visit, wallet: string): Promise<Html> {
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
  return html`${[...groups.values()].map((tokens, index) => group(tokens, index))}${nextPage(next && walletView(visit, wallet, { cursor: next }))}`;
}

function group(tokens: readonly Held[], index: number): Html {
  const [first] = tokens;
  if (first === undefined) return html``;
  const { chainId, collection } = first;
  const cards = tokens.map((token) => ({
    token,
    listing: token.listing,
    note: token.units === "1" ? undefined : html`${formatCount(Number(token.units))} units`,
  }));
  return panel({
    id: `collection-${index}`,
    title: toCollection(chainId, collection),
    aside: html`<span class="quiet">${formatCount(tokens.length)} shown</span>`,
    body: itemGrid(cards, chainId),
  });
}
