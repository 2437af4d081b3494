import { type Address, maxUint256, parseEther } from "viem";
import type { OfferTrait, Plan, Planner } from "../src/viem/index.ts";
import type { ListedToken } from "./suggest.ts";

/** What a button of a page asks for. Wei and token ids are decimal strings. */
export type TradeRequest =
  /** `unitPriceWei`: what the page shows; more is not paid without asking. */
  | ({ readonly verb: "buy"; readonly unitPriceWei?: string } & (
      | { readonly askId: string }
      | { readonly contract: Address; readonly tokenId: string }
    ))
  | { readonly verb: "list"; readonly contract: Address; readonly tokenId: string }
  | { readonly verb: "listSelected"; readonly picks: readonly ListedToken[] }
  | {
      readonly verb: "offer";
      readonly contract: Address;
      readonly tokenId?: string;
      readonly traits?: readonly OfferTrait[];
    }
  /** The cheapest units of a collection. */
  | {
      readonly verb: "sweep";
      readonly collection: string;
      readonly traits?: readonly OfferTrait[];
    }
  /** Listings of a collection, for no more than the page shows. */
  | {
      readonly verb: "buySelected";
      readonly collection: string;
      readonly picks: readonly PickedListing[];
    }
  /** The bid, or the best one for the token. `netWei`: what the page shows; less is not taken. */
  | ({ readonly verb: "accept"; readonly netWei?: string } & (
      | { readonly bidId: string }
      | { readonly contract: Address; readonly tokenId: string }
    ))
  | {
      readonly verb: "cancel";
      readonly askIds?: readonly string[];
      readonly bidIds?: readonly string[];
    }
  | {
      readonly verb: "cancelSelected";
      readonly picks: readonly { readonly askId?: string; readonly bidId?: string }[];
    }
  /** All orders of the account, on every marketplace. */
  | { readonly verb: "cancelAll" }
  /** Approvals to the conduit, and with `offers` to the exchange. */
  | {
      readonly verb: "revoke";
      readonly contracts?: readonly Address[];
      readonly offers?: boolean;
    };

type PickedListing = {
  readonly askId: string;
  readonly unitPriceWei: string;
  /** Units that it has; one of them is bought. */
  readonly units: number;
};

/** What the person wrote into the sheet's form, as texts. */
export type TradeFields = {
  readonly price?: string;
  readonly days?: string;
  readonly quantity?: string;
  /** Of a bid on several: the token that is sold. */
  readonly tokenId?: string;
  /** Of each picked token, by its place. */
  readonly [price: `price.${number}`]: string | undefined;
};

/** The plan of a request; nothing is signed or sent. */
export function planRequest(
  planner: Planner,
  request: TradeRequest,
  fields: TradeFields,
): Promise<Plan> {
  switch (request.verb) {
    case "buy":
      return planPurchase(planner, request, unitsOf(fields));
    case "list": {
      const { contract, tokenId } = request;
      return planner.list([{ contract, tokenId: BigInt(tokenId), ...termsOf(fields) }]);
    }
    case "listSelected":
      return planner.list(
        request.picks.map(({ contract, tokenId }, index) => {
          const terms = termsOf({ ...fields, price: fields[`price.${index}`] ?? "" });
          return { contract, tokenId: BigInt(tokenId), ...terms };
        }),
      );
    case "offer": {
      const { contract, tokenId, traits } = request;
      const subject = {
        ...(tokenId !== undefined && { tokenId: BigInt(tokenId) }),
        ...(traits !== undefined && { traits }),
      };
      return planner.offer([{ contract, ...subject, ...termsOf(fields) }], { wrap: true });
    }
    case "sweep":
      return planSwept(planner, request, fields);
    case "buySelected":
      return planSelected(planner, request);
    case "accept":
      return planSale(planner, request, fields);
    case "cancel":
      return planner.cancel(request);
    case "cancelSelected":
      return planner.cancel({
        askIds: request.picks.flatMap(({ askId }) => askId ?? []),
        bidIds: request.picks.flatMap(({ bidId }) => bidId ?? []),
      });
    case "cancelAll":
      return planner.cancel({ all: true });
    case "revoke":
      return planner.revoke(request);
  }
}

type Purchase = Extract<TradeRequest, { verb: "buy" }>;

/** At any price where none was shown: the plan tells it, and it is what is paid at most. */
function planPurchase(planner: Planner, request: Purchase, quantity: bigint): Promise<Plan> {
  const { unitPriceWei } = request;
  const maxPriceWei = unitPriceWei === undefined ? maxUint256 : BigInt(unitPriceWei) * quantity;
  if ("askId" in request) return planner.buy([{ askId: request.askId, quantity }], { maxPriceWei });
  const token = { contract: request.contract, tokenId: BigInt(request.tokenId) };
  return planner.buy([{ ...token, quantity }], { maxPriceWei });
}

function planSwept(
  planner: Planner,
  { collection, traits = [] }: Extract<TradeRequest, { verb: "sweep" }>,
  fields: TradeFields,
): Promise<Plan> {
  const chosen = traits.flatMap((one) => ("value" in one ? [[one.type, one.value] as const] : []));
  const named = chosen.length === 0 ? {} : { traits: Object.fromEntries(chosen) };
  const budgetWei = parseEther(fields.price ?? "");
  return planner.sweep({ collection, count: Number(unitsOf(fields)), budgetWei, ...named });
}

/** In one transaction; units of a listing that has more are named one by one, as the cheapest would be taken else. */
function planSelected(
  planner: Planner,
  { collection, picks }: Extract<TradeRequest, { verb: "buySelected" }>,
): Promise<Plan> {
  const budgetWei = picks.reduce((sum, { unitPriceWei }) => sum + BigInt(unitPriceWei), 0n);
  const askIds = picks.map(({ askId }) => askId);
  if (picks.every(({ units }) => units === 1))
    return planner.sweep({ collection, askIds, count: picks.length, budgetWei });
  const items = askIds.map((askId) => ({ askId, quantity: 1n }));
  return planner.buy(items, { maxPriceWei: budgetWei });
}

/** At any price where none was shown: the plan tells it, and it is what is received at least. */
function planSale(
  planner: Planner,
  request: Extract<TradeRequest, { verb: "accept" }>,
  { tokenId }: TradeFields,
): Promise<Plan> {
  const limit = { minNetWei: BigInt(request.netWei ?? 0) };
  if (!("bidId" in request)) {
    const { contract, tokenId } = request;
    return planner.accept({ contract, tokenId: BigInt(tokenId) }, limit);
  }
  const named = tokenId === undefined ? {} : { tokenId: BigInt(tokenId) };
  return planner.accept({ bidId: request.bidId, ...named }, limit);
}

const unitsOf = ({ quantity = "1" }: TradeFields) => BigInt(quantity);

const termsOf = (fields: TradeFields) => ({
  quantity: unitsOf(fields),
  unitPriceWei: parseEther(fields.price ?? ""),
  days: Number(fields.days ?? ""),
});
