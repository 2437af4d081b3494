import { formatEther } from "viem";
import type { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import type { Collection } from "../v1/collections/collections.ts";
import type { Token } from "../v1/collections/token.ts";
import type { Bid } from "../v1/orders/bids.ts";
import type { Exposure } from "../v1/orders/exposure.ts";
import type { Listing } from "../v1/orders/listings.ts";
import type { Html } from "./kit/html.ts";
import { coinSymbol } from "./kit/number.ts";
import { plainText, shortId } from "./kit/text.ts";
import { type ButtonRequest, picksTrade, tradeButton, tradeButtons } from "./kit/trade-button.ts";

type TokenRow = z.output<typeof Token>;
type Listed = z.output<typeof Listing>;

/** What a visitor with a wallet can do with a token. */
export function tokenTrades(row: TokenRow): Html | false {
  const { chainId, contract, tokenId, owner, listing, bestOffer } = row;
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
    bestOffer !== null &&
      tradeButton(
        "Accept the best offer",
        {
          ...{ verb: "accept", title: `Sell ${name}` },
          ...{ chainId, contract, tokenId, netWei: bestOffer.sellerNetWei },
        },
        { owner },
      ),
  ]);
}

/** What a visitor with a wallet can do with a listing. */
export function listingTrades(row: Listed): Html {
  const { chainId, askId, tokenId, maker, marketplace } = row;
  const name = `#${shortId(tokenId)}`;
  const cancel = { chainId, askIds: [askId], title: `End the listing of ${name}` };
  return tradeButtons([
    row.buyableViaApi && buyButton(name, row, { chainId, askId }),
    marketplace === "native" &&
      isOpen(row) &&
      tradeButton("End it", { verb: "cancel", ...cancel }, { owner: maker }),
  ]);
}

/** What a visitor with a wallet can do with an offer. */
export function bidTrades(row: z.output<typeof Bid>): Html {
  const { chainId, bidId, tokenId, maker, sellerNetWei, quantityRemaining } = row;
  const needsToken = tokenId === null;
  // An offer for units of one token is accepted as a whole.
  const sold = needsToken ? 1n : BigInt(quantityRemaining);
  const netWei = `${BigInt(sellerNetWei) * sold}`;
  const accept: ButtonRequest = {
    ...{ chainId, bidId, title: "Accept the offer", needsToken, netWei },
    verb: "accept",
  };
  const cancel = { verb: "cancel", chainId, bidIds: [bidId], title: "End the offer" } as const;
  return tradeButtons([
    row.status === "active" && tradeButton("Accept it", accept, { isPrimary: true }),
    isOpen(row) && tradeButton("End it", cancel, { owner: maker }),
  ]);
}

const isOpen = ({ status }: { readonly status: string }) =>
  status === "active" || status === "inactive";

type Collected = Pick<z.output<typeof Collection>, "chainId" | "slug" | "address" | "stats">;
type Trait = readonly [type: string, value: string];

/** What a visitor with a wallet can do with a collection, or with its tokens that have traits. */
export function collectionTrades(row: Collected, traits: readonly Trait[]): Html {
  const { chainId, slug, address, stats } = row;
  const chosen = traits.map(([type, value]) => ({ type, value }));
  const these = chosen.length === 0 ? {} : { traits: chosen };
  const named = traits.map(([type, value]) => plainText(`${type} ${value}`, 40)).join(", ");
  const what = chosen.length === 0 ? "any token" : `any token with ${named}`;
  const coin = coinSymbol(chainId);
  return tradeButtons([
    stats.floorBuyable !== null &&
      tradeButton("Buy the cheapest", {
        ...{ verb: "sweep", chainId, collection: slug ?? address, ...these },
        ...{ title: "Buy the cheapest", coin, units: 50 },
      }),
    tradeButton("Make an offer", {
      ...{ verb: "offer", chainId, contract: address, ...these },
      ...{ title: `Offer for ${what}`, coin: `W${coin}` },
    }),
  ]);
}

type Buyable = Pick<Listed, "askId" | "priceWei" | "quantityFillable" | "buyableViaApi">;

/** Of a token that can be bought with others. */
export function listingPick(name: string | null, tokenId: string, listing: Buyable | null) {
  if (listing?.buyableViaApi !== true) return undefined;
  const { askId, priceWei, quantityFillable } = listing;
  const text = plainText(name ?? `#${shortId(tokenId)}`, 60);
  return { name: text, askId, unitPriceWei: priceWei, units: quantityFillable };
}

/** Of a token that its owner can list with others. */
export const tokenPick = ({
  name,
  contract,
  tokenId,
}: Pick<TokenRow, "name" | "contract" | "tokenId">) => ({
  ...{ name: plainText(name ?? `#${shortId(tokenId)}`, 60), contract, tokenId },
});

/** Buys the picked tokens of a collection together. */
export const buyPicks = ({ chainId, slug, address }: Omit<Collected, "stats">): Html =>
  picksTrade("Buy selected", {
    ...{ verb: "buySelected", chainId, collection: slug ?? address, title: "Buy the selected" },
    coin: coinSymbol(chainId),
  });

/** Lists the picked tokens of a wallet together. */
export const listPicks = (chainId: ChainId, owner: string): Html =>
  picksTrade(
    "List selected",
    { verb: "listSelected", chainId, title: "List the selected", coin: coinSymbol(chainId) },
    owner,
  );

type OwnOrder = {
  readonly status: string;
  readonly tokenId: string | null;
  readonly marketplace?: string;
};

/** Of an order that its maker can end with others. */
const endPick = ({ status, tokenId, marketplace = "native" }: OwnOrder, id: object) =>
  isOpen({ status }) && marketplace === "native"
    ? { name: tokenId === null ? "an offer on several" : `#${shortId(tokenId)}`, ...id }
    : undefined;

export const listingEndPick = (row: Listed) => endPick(row, { askId: row.askId });
export const bidEndPick = ({ status, tokenId, bidId }: z.output<typeof Bid>) =>
  endPick({ status, tokenId }, { bidId });

/** Ends the picked orders of a wallet together. */
export const endPicks = (chainId: ChainId, owner: string): Html =>
  picksTrade("End selected", { verb: "cancelSelected", chainId, title: "End the selected" }, owner);

type Approval = NonNullable<z.output<typeof Exposure>["approval"]>;

/** Takes an approval back. */
export function revokeButton(chainId: ChainId, owner: string, approval: Approval): Html {
  const { of, contract } = approval;
  const taken = of === "money" ? { offers: true } : { contracts: [contract] };
  const title = of === "money" ? "Take the allowance back" : "Take the approval back";
  return tradeButton("Revoke it", { verb: "revoke", chainId, title, ...taken }, { owner });
}

/** What ends an order that could be filled again. */
export function endButton({ listing, bid }: Pick<z.output<typeof Exposure>, "listing" | "bid">) {
  const order = listing ?? bid;
  if (order === null) return false;
  const { chainId, maker: owner } = order;
  if (listing !== null && listing.marketplace !== "native") return false;
  const ids = listing === null ? { bidIds: [bid?.bidId ?? ""] } : { askIds: [listing.askId] };
  const title = listing === null ? "End the offer" : "End the listing";
  return tradeButton("End it", { verb: "cancel", chainId, title, ...ids }, { owner });
}

/** What the owner of a wallet can do with all of its orders. */
export const walletTrades = (chainId: ChainId, owner: string): Html => {
  const request = { verb: "cancelAll", chainId, title: "End all orders" } as const;
  return tradeButtons([tradeButton("End all orders", request, { owner })]);
};

type Priced = Pick<Listed, "priceWei" | "quantityFillable">;
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
