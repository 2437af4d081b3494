import { formatEther } from "viem";
import { type Pictured, picturePath, pictureWidths } from "#api/pictures/address.ts";
import { titleOn } from "./document.ts";
import { dataScript, type Html, html } from "./html.ts";
import { formatNumber } from "./number.ts";
import { plainText } from "./text.ts";

/** What a page is to search engines, and to who shares its address. */
export type Preview = {
  /** Path of the one address of the page, among those that show the same. */
  readonly canonical: string;
  /** Figures that stand before the description. */
  readonly figures?: readonly (string | null)[];
  /** What it shows a picture of. */
  readonly image?: Pictured;
  /** Something that is for sale. */
  readonly product?: Product | undefined;
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
  const { figures = [], product } = preview;
  const url = `${origin}${preview.canonical}`;
  const facts = figures.filter((one) => one !== null).join(" · ");
  const about = plainText(facts === "" ? description : `${facts}. ${description}`, maxDescription);
  const image = addressOf(preview.image, origin);
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${about}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.name}">
<meta property="og:title" content="${titleOn(site, title)}">
<meta property="og:description" content="${about}">
<meta property="og:url" content="${url}">
${image !== null && html`<meta property="og:image" content="${image}">`}
<meta name="twitter:card" content="${image === null ? "summary" : "summary_large_image"}">
${product !== undefined && dataScript("application/ld+json", productData(product, { url, image, about }))}`;
}

/** As large as a page shows it; drawn by this site, where nobody has a picture. */
const addressOf = (image: Pictured | undefined, origin: string): string | null =>
  image === undefined ? null : `${origin}${picturePath(image, pictureWidths.page)}`;

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
