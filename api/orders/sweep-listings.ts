import type { Address, Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { readBuyableUnits } from "#projections/tokens/read-buyable-units.ts";
import type { TraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { encodeSweep, type Payment, serviceTag } from "./buy-calldata.ts";
import {
  type BuyCode,
  buyListings,
  type PreparedPurchase,
  type PurchaseOutcome,
} from "./buy-listings.ts";
import { chooseUnits } from "./choose-units.ts";
import type { Market } from "./market.ts";
import { listingId, listingOf } from "./order-id.ts";

/** A request to buy the cheapest units of some contracts. */
export type SweepRequest = {
  chainId: ChainId;
  contractIds: readonly number[];
  traitKeys: TraitKeys;
  /** Only these; null: any. */
  askIds: readonly string[] | null;
  /** Units. */
  count: bigint;
  budgetWei: bigint | null;
  currency: "native" | "wrapped" | null;
  buyer: Address;
  /** Who asks, and may use a part of what partners give. */
  caller: string;
};

type SweepRejection = Rejection<BuyCode | "insufficient_balance">;

/** Some of the purchases as one transaction. */
type SweepTransaction = {
  purchases: readonly PreparedPurchase[];
  data: Hex;
  /** Native currency to send. */
  valueWei: bigint;
  /** Of the listings in the wrapped currency; null: there are none. */
  payment: Payment | null;
  endsAt: Date;
};

export type PreparedSweep = {
  /** In the order of their prices per unit. */
  purchases: readonly PreparedPurchase[];
  transactions: readonly SweepTransaction[];
  /** Cheaper ones that cannot be bought, and why. */
  skipped: readonly { askId: string; rejection: SweepRejection }[];
  /** Why there are fewer units than wanted; null: there are as many. `checks`: of the listings that were looked at. */
  shortage: "budget" | "listings" | "checks" | null;
};

/** How often others are checked in place of those that cannot be bought, and how many listings in all. */
const maxRounds = 6;
const maxChecks = 120;
/** Listings that are read, cheapest first. */
const maxListings = 300;

/** The cheapest units that pass the checks of a purchase, with substitutes for those that do not. */
export async function sweepListings(
  market: Market,
  request: SweepRequest,
  now: Date,
): Promise<PreparedSweep | Rejection<"buying_disabled">> {
  const { chainId, buyer, caller } = request;
  const checked = new CheckedListings();
  for (let round = 0; ; round += 1) {
    const { picks, shortage } = await pickUnits(market, request, checked, now);
    const unchecked = picks.filter((one) => !checked.has(one));
    const isLast = round === maxRounds || checked.size + unchecked.length > maxChecks;
    if (unchecked.length === 0 || isLast) {
      const purchases = picks.flatMap((one) => checked.get(one) ?? []);
      const transactions = transactionsOf(purchases, buyer, serviceTag(market.prefix));
      const isChecked = unchecked.length === 0;
      const skipped = checked.skipped();
      return { purchases, transactions, skipped, shortage: isChecked ? shortage : "checks" };
    }
    const outcomes = await buyListings(
      market,
      { chainId, items: unchecked, buyer, maxWei: null, caller },
      now,
    );
    if (outcomes.some((one) => isRejection(one) && one.rejected === "buying_disabled"))
      return reject("buying_disabled", "Buying is paused");
    checked.addAll(unchecked, outcomes);
    checked.demandFunds(picks);
  }
}

type Pick = { askId: string; units: bigint };

/** What would be bought if all that is not checked yet passes, and why it is not more. */
async function pickUnits(
  { writer, prefix }: Market,
  { askIds, count, budgetWei, ...filter }: SweepRequest,
  checked: CheckedListings,
  now: Date,
): Promise<{ picks: readonly Pick[]; shortage: PreparedSweep["shortage"] }> {
  const orderHashes = askIds?.flatMap((askId) => listingOf(prefix, askId)?.orderHash ?? []) ?? null;
  const rows = await readBuyableUnits(writer, { ...filter, orderHashes }, maxListings, now);
  const listings = rows
    .map((row) => ({ ...row, askId: listingId(prefix, row) }))
    .filter(({ askId }) => !checked.isRefused(askId));
  const picks = chooseUnits(listings, { count, budgetWei });
  if (picks.reduce((sum, { units }) => sum + units, 0n) === count) return { picks, shortage: null };
  const picked = new Set(picks.map(({ askId }) => askId));
  const leftWei = budgetWei === null ? null : budgetWei - sumOf(picks);
  const isTooDear = listings.some(
    ({ askId, unitPriceWei }) => leftWei !== null && !picked.has(askId) && unitPriceWei > leftWei,
  );
  if (isTooDear) return { picks, shortage: "budget" };
  return { picks, shortage: rows.length < maxListings ? "listings" : "checks" };
}

const sumOf = (prices: readonly { priceWei: bigint }[]) =>
  prices.reduce((sum, { priceWei }) => sum + priceWei, 0n);

/** What was found out about listings. */
class CheckedListings {
  readonly #purchases = new Map<string, PreparedPurchase>();
  readonly #refused = new Map<string, SweepRejection>();
  readonly #fewer = new Set<string>();

  get size(): number {
    return this.#purchases.size + this.#refused.size;
  }

  isRefused = (askId: string) => this.#refused.has(askId);
  has = (one: Pick) => this.#purchases.has(nameOf(one));
  get = (one: Pick) => this.#purchases.get(nameOf(one));
  skipped = () => [...this.#refused].map(([askId, rejection]) => ({ askId, rejection }));

  addAll(picks: readonly Pick[], outcomes: readonly PurchaseOutcome[]): void {
    for (const [index, one] of picks.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new Error(`no outcome for listing ${one.askId}`);
      this.#add(one, isRejection(outcome) ? outcome : (rejectFraction(outcome) ?? outcome));
    }
  }

  #add(one: Pick, outcome: PreparedPurchase | SweepRejection): void {
    if (!isRejection(outcome)) this.#purchases.set(nameOf(one), outcome);
    // The chain says that fewer units are left, which the next look at the book shows.
    else if (outcome.rejected === "bad_amount" && !this.#fewer.has(one.askId))
      this.#fewer.add(one.askId);
    else this.#refused.set(one.askId, outcome);
  }

  /** The call fails as a whole where the wrapped currency does not suffice: what the buyer cannot pay is left out. */
  demandFunds(picks: readonly Pick[]): void {
    let neededWei = 0n;
    for (const one of picks) {
      const purchase = this.get(one)?.purchase;
      if (purchase?.payment == null) continue;
      neededWei += purchase.priceWei;
      const { balanceWei } = purchase.payment;
      if (balanceWei === null || neededWei <= balanceWei) continue;
      neededWei -= purchase.priceWei;
      const message = `buyer: has ${balanceWei} wei of ${purchase.currency}`;
      this.#refused.set(one.askId, reject("insufficient_balance", message));
    }
  }
}

const nameOf = ({ askId, units }: Pick) => `${askId} ${units}`;

/** A partner's order may have payments that cannot be divided; the exchange would refuse all orders of the call. */
function rejectFraction({ purchase }: PreparedPurchase): Rejection<"unsupported_order"> | null {
  const { parameters, numerator, denominator } = purchase.order;
  const legs = [...parameters.offer, ...parameters.consideration];
  if (legs.every(({ startAmount }) => (startAmount * numerator) % denominator === 0n)) return null;
  return reject("unsupported_order", `Its payments cannot be divided for ${purchase.units} units`);
}

/** A transaction may use 16,777,216 gas (EIP-7825); some is left for tokens that cost more than others. */
const maxGas = 15_500_000;

/** More than a usual order costs: its NFT, its signature, and payments to new accounts. */
function gasOf({ purchase }: PreparedPurchase): number {
  const { parameters, extraData } = purchase.order;
  return 150_000 + 45_000 * parameters.consideration.length + 20 * extraData.length;
}

/** As few transactions as their gas allows. All orders are for one exchange. */
function transactionsOf(
  purchases: readonly PreparedPurchase[],
  buyer: Address,
  tag: Hex,
): SweepTransaction[] {
  const groups: PreparedPurchase[][] = [];
  let gas = maxGas;
  for (const one of purchases) {
    gas += gasOf(one);
    if (gas > maxGas) {
      groups.push([]);
      gas = gasOf(one);
    }
    groups.at(-1)?.push(one);
  }
  return groups.map((group) => ({
    purchases: group,
    data: encodeSweep(
      group.map(({ purchase }) => purchase.order),
      buyer,
      tag,
    ),
    valueWei: group.reduce((sum, { purchase }) => sum + purchase.valueWei, 0n),
    payment: paymentOf(group),
    endsAt: new Date(Math.min(...group.map(({ endsAt }) => endsAt.getTime()))),
  }));
}

function paymentOf(group: readonly PreparedPurchase[]): Payment | null {
  const payments = group.flatMap(({ purchase }) => purchase.payment ?? []);
  const [first] = payments;
  if (first === undefined) return null;
  const requiredWei = payments.reduce((sum, one) => sum + one.requiredWei, 0n);
  return { ...first, requiredWei };
}
