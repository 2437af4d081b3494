import type { z } from "zod";
import type { Token } from "#api/v1/collections/token.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { tokenLink } from "./links.ts";
import { amount, formatCount } from "./number.ts";
import { marketplaceName, nameOr, plainText, shortId } from "./text.ts";
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
${picture(media.imageUrl, "", 240, `#${shortId(tokenId)}`)}
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

type Media = {
  readonly imageUrl: string | null;
  readonly animationUrl?: string | null;
  readonly contentType?: string | null;
};

/** Of the web, or of this site. */
const isLoadable = (url: string | null): url is string =>
  url !== null && /^(https?:\/\/|\/(?!\/))/i.test(url);

/** Somebody's image: never part of the page itself, and its host learns nothing of the page. `placeholder` stands where it cannot be shown. */
export function picture(url: string | null, alt: string, size: number, placeholder = ""): Html {
  return html`<span class="media">${placeholder !== "" && html`<span class="placeholder" aria-hidden="true">${placeholder}</span>`}${
    isLoadable(url) &&
    html`<img src="${url}" alt="${plainText(alt)}" width="${size}" height="${size}" loading="lazy" decoding="async" referrerpolicy="no-referrer">`
  }</span>`;
}

/** A token's video where it has one, else its image. */
export function tokenMedia({ imageUrl, animationUrl, contentType }: Media, alt: string): Html {
  const url = animationUrl ?? null;
  const isVideo =
    isLoadable(url) &&
    (/\.(mp4|webm|mov|m4v)(\?|$)/i.test(url) || contentType?.startsWith("video/") === true);
  if (!isVideo && !isLoadable(imageUrl))
    return html`<span class="media"><span class="placeholder">No image</span></span>`;
  if (!isVideo) return picture(imageUrl, alt, 480);
  return html`<span class="media"><video src="${url}" controls loop muted playsinline preload="none" aria-label="${plainText(alt)}"${imageUrl !== null && html` poster="${imageUrl}"`}></video></span>`;
}
