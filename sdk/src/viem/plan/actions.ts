import type { Address } from "viem";
import type { PlannedCriteria } from "../criteria.ts";
import type { TextComponents } from "./components.ts";

/** Wei, units and token ids are decimal strings: a plan is plain JSON. */
export type Wei = string;

/** An order to be signed. */
export type PlannedOrder = {
  readonly side: "ask" | "bid";
  readonly contract: Address;
  /** Null: any token of the contract, or those of `criteria`. */
  readonly tokenId: string | null;
  readonly criteria?: PlannedCriteria;
  readonly quantity: string;
  readonly unitPriceWei: Wei;
  /** What the seller receives for all units, after fees and royalty. */
  readonly netWei: Wei;
  readonly components: TextComponents;
};

export type OrderRef = { readonly side: "ask" | "bid"; readonly id: string };

export type BuyAction = {
  readonly name: "buy";
  readonly askId: string;
  readonly contract: Address;
  readonly tokenId: string;
  readonly quantity: string;
  /** For all units. */
  readonly priceWei: Wei;
  /** The zero address: native currency. */
  readonly currency: Address;
};

/** The cheapest units of a collection, by one transaction; each listing that is gone by then is left out. */
export type SweepAction = {
  readonly name: "sweep";
  readonly collection: string;
  readonly items: readonly BuyAction[];
};

export type AcceptAction = {
  readonly name: "accept";
  readonly bidId: string;
  readonly contract: Address;
  readonly tokenId: string;
  readonly quantity: string;
  /** What the seller receives for all units. */
  readonly netWei: Wei;
  readonly currency: Address;
};

export type CancelAction = { readonly name: "cancel"; readonly orders: readonly OrderRef[] };

/** All orders of the account, on every marketplace, by its counter. */
export type CancelAllAction = { readonly name: "cancelAll" };

/** What a transaction of the exchange does. */
export type PlannedAction = BuyAction | SweepAction | AcceptAction | CancelAction | CancelAllAction;
