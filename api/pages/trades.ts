import { formatEther } from "viem";
import type { z } from "zod";
import type { Token } from "../v1/collections/token.ts";
import type { Listing } from "../v1/orders/listings.ts";
import type { Html } from "./kit/html.ts";
import { coinSymbol } from "./kit/number.ts";
import { plainText, shortId } from "./kit/text.ts";
import { type ButtonRequest, tradeButton, tradeButtons } from "./kit/trade-button.ts";

type TokenRow = z.output<typeof Token>;
/** What a visitor with a wallet can do with a token. */
export function tokenTrades(row: TokenRow): Html | false {
  const { chainId, contract, tokenId, owner, listing } = row;
  if (row.isBurned) return false;
  const name = plainText(row.name ?? `#${shortId(tokenId)}`, 60);
  const units = owner === null ? { units: row.supply } : {};
  const own = { chainId, contract, tokenId, hints: hintsOf(row), ...units };
  const coin = coinSymbol(chainId);
  return tradeButtons([
    listing?.buyableViaApi === true && buyButton(name, listing, { chainId, contract, tokenId }),
    tradeButton("Make an offer", {
      ...{ ...own, verb: "offer", title: `Offer for ${name}`, coin: `W${coin}` },
    }),
    tradeButton("List for sale", { ...own, verb: "list", title: `List ${name}`, coin }, { owner }),
  ]);
}

/** What a visitor with a wallet can do with a listing. */
export function listingTrades(row: z.output<typeof Listing>): Html | false {
  const { chainId, askId, tokenId } = row;
  return (
    row.buyableViaApi && tradeButtons([buyButton(`#${shortId(tokenId)}`, row, { chainId, askId })])
  );
}

type Priced = Pick<z.output<typeof Listing>, "priceWei" | "quantityFillable">;
type Bought = Pick<ButtonRequest, "chainId" | "askId" | "contract" | "tokenId">;

/** Buys a listing, or whichever listing of a token is the cheapest, for what the page shows. */
function buyButton(name: string, { priceWei, quantityFillable }: Priced, bought: Bought): Html {
  const units = quantityFillable > 1 ? { units: quantityFillable } : {};
  const request = { verb: "buy", title: `Buy ${name}`, unitPriceWei: priceWei } as const;
  return tradeButton("Buy", { ...request, ...units, ...bought }, { isPrimary: true });
}

/** Prices that who lists or offers may take over. */
function hintsOf({ listing, bestOffer, lastSale }: TokenRow) {
  const prices = [
    ["Cheapest listing", listing],
    ["Best offer", bestOffer],
    ["Last sale", lastSale],
  ] as const;
  return prices.flatMap(([label, priced]) =>
    priced === null || priced.currency.symbol === null
      ? []
      : [[label, formatEther(BigInt(priced.priceWei))] as const],
  );
}
