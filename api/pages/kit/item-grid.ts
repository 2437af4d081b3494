import type { z } from "zod";
import type { Token } from "#api/v1/collections/token.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { tokenLink } from "./links.ts";
import { picture } from "./media.ts";
import { amount, formatCount } from "./number.ts";
import { marketplaceName, nameOr, shortId } from "./text.ts";
import { type PickedRow, pickBox } from "./trade-button.ts";

type TokenRow = z.output<typeof Token>;

/** A token, and the listing that it is shown with. */
export type ItemCard = {
  readonly token: Pick<TokenRow, "contract" | "tokenId" | "name" | "media" | "rarity" | "lastSale">;
  readonly listing: Pick<
    NonNullable<TokenRow["listing"]>,
    "priceWei" | "currency" | "usd" | "marketplace"
  > | null;
  /** Below the price. */
  readonly note?: Html | undefined;
  /** What is traded when it is picked with others. */
  readonly pick?: PickedRow | undefined;
};

/** Tokens as cards with pictures. */
export function itemGrid(
  cards: readonly ItemCard[],
  chainId: ChainId,
  empty = "No items like this.",
): Html {
  if (cards.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<ul class="grid">${cards.map((card) => html`<li class="card">${cardOf(card, chainId)}${card.pick !== undefined && pickBox(card.pick)}</li>`)}</ul>`;
}

function cardOf({ token, listing, note }: ItemCard, chainId: ChainId): Html {
  const { contract, tokenId, name, media, rarity, lastSale } = token;
  return html`<a href="${tokenLink(chainId, contract, tokenId)}">
${picture({ chainId, contract, tokenId, imageUrl: media.imageUrl }, "", "card")}
<span class="body"><span class="name">${nameOr(name, `#${shortId(tokenId)}`)}${rarity !== null && html`<span class="mark" title="Rarity rank ${rarity.rank} of ${rarity.of}">${formatCount(rarity.rank)}</span>`}</span>
${
  listing === null
    ? html`<span class="price quiet">Not listed</span>`
    : html`<span class="price">${amount({ wei: listing.priceWei, symbol: listing.currency.symbol, usd: listing.usd })}</span>`
}
<span class="under">${note ?? underPrice(listing, lastSale)}</span></span></a>`;
}

function underPrice(listing: ItemCard["listing"], lastSale: TokenRow["lastSale"]): Html | string {
  if (listing !== null) return marketplaceName(listing.marketplace);
  if (lastSale === null) return "Never sold";
  return html`Last sold for ${amount({ wei: lastSale.priceWei, symbol: lastSale.currency.symbol })}`;
}
