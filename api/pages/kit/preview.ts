import { formatEther } from "viem";
import {
  cardSize,
  type Pictured,
  picturePath,
  pictureVersion,
  pictureWidths,
} from "#api/pictures/address.ts";
import { type ChainId, chainNames } from "#chains/index.ts";
import { titleOn } from "./document.ts";
import { dataScript, type Html, html } from "./html.ts";
import { formatNumber } from "./number.ts";
import { plainText } from "./text.ts";

/** What a page is to search engines, and to who shares its address. */
export type Preview = {
  /** Path of the one address of the page, among those that show the same. */
  readonly canonical: string;
  /** What is drawn for who shares it, and stands before the description. */
  readonly card?: Card;
  /** Something that is for sale. */
  readonly product?: Product | undefined;
};

/** A picture with a name and figures. */
export type Card = {
  readonly name: string;
  /** What it belongs to. */
  readonly about: string;
  readonly image: Pictured & { readonly chainId: ChainId };
  readonly figures: readonly string[];
};

type Product = {
  readonly name: string;
  readonly brand: string;
  readonly sku: string;
  /** For a unit, exact. */
  readonly priceWei: string;
  readonly symbol: string;
  readonly expiresAt: string;
};

type Shared = {
  /** Where the pages are served, without a trailing slash. */
  readonly origin: string;
  readonly site: Parameters<typeof titleOn>[0];
  readonly title: string;
  readonly description: string;
  readonly preview: Preview;
};

/** As much as search engines show. */
const maxDescription = 160;

/** Elements of the head: address, description, cards of social networks, and what is for sale. */
export function sharingHead({ origin, site, title, description, preview }: Shared): Html {
  const { canonical, card, product } = preview;
  const url = `${origin}${canonical}`;
  const facts = card === undefined ? "" : [...card.figures, card.about].join(" · ");
  const about = plainText(facts === "" ? description : `${facts}. ${description}`, maxDescription);
  const drawn = card === undefined ? null : `${origin}${cardPath(canonical, card)}`;
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${about}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.name}">
<meta property="og:title" content="${titleOn(site, title)}">
<meta property="og:description" content="${about}">
<meta property="og:url" content="${url}">
${drawn !== null && imageTags(drawn, title)}
<meta name="twitter:card" content="${drawn === null ? "summary" : "summary_large_image"}">
${product !== undefined && dataScript("application/ld+json", productData(product, { url, image: imageOf(card, origin), about }))}`;
}

const imageTags = (
  address: string,
  title: string,
): Html => html`<meta property="og:image" content="${address}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${cardSize.width}">
<meta property="og:image:height" content="${cardSize.height}">
<meta property="og:image:alt" content="${plainText(title)}">`;

/** Of what is for sale: the picture alone, as large as a page shows it. */
const imageOf = (card: Card | undefined, origin: string): string | null =>
  card === undefined ? null : `${origin}${picturePath(card.image, pictureWidths.page)}`;

/** Where a page's card is: below its own path. Another price has another address, as who was given one keeps it. */
function cardPath(canonical: string, card: Card): string {
  const [path = ""] = canonical.split("?");
  return `/cards${path}?chainId=${card.image.chainId}&v=${cardVersion(card)}`;
}

/** Tells a card from the others by all that is on it. */
export const cardVersion = (card: Card): string =>
  pictureVersion(JSON.stringify([cardTexts(card), card.image.imageUrl]));

/** What is written on a card. */
export const cardTexts = ({ name, about, figures, image }: Card) => ({
  ...{ name, about, figures },
  place: chainNames[image.chainId],
});

/** In the words of schema.org, which take the symbol of a coin for a currency. */
function productData(
  { name, brand, sku, priceWei, symbol, expiresAt }: Product,
  { url, image, about }: { url: string; image: string | null; about: string },
) {
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    ...{ name, sku, url, description: about, brand: { "@type": "Brand", name: brand } },
    ...(image !== null && { image }),
    offers: {
      "@type": "Offer",
      ...{ url, price: formatEther(BigInt(priceWei)), priceCurrency: symbol },
      availability: "https://schema.org/InStock",
      priceValidUntil: expiresAt,
    },
  };
}

/** An amount as one line of text; null: unknown, or another currency than the chain's. */
export function amountLine(
  wei: string | null | undefined,
  symbol: string | null,
  label = "",
): string | null {
  if (wei === null || wei === undefined || symbol === null) return null;
  return `${label}${formatNumber(Number(formatEther(BigInt(wei))))} ${symbol}`;
}
