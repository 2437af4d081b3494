import { type Address, type Hex, zeroAddress } from "viem";
import type { components } from "../../document.ts";
import { checkOrderIds } from "../checks/check-order-id.ts";
import { checkSweep } from "../checks/check-purchase.ts";
import { type Clients, callOptions } from "../clients.ts";
import { bidCurrency, formatAmount, isSame } from "../exchange.ts";
import { assertSafe, checked } from "../wallet-error.ts";
import type { BuyAction } from "./actions.ts";
import type { Call, MissedListing, Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

export type SweepInput = {
  /** Slug or address. */
  readonly collection: string;
  /** Units, 50 at most. */
  readonly count: number;
  /** The most that all may cost. */
  readonly budgetWei: bigint;
  /** Only these listings of the collection, 50 at most. */
  readonly askIds?: readonly string[];
  /** Type to value; a token must have all. */
  readonly traits?: Readonly<Record<string, string>>;
  /** Default: both. */
  readonly currency?: "native" | "wrapped";
};

export type SweepOptions = { readonly signal?: AbortSignal };

type Sweep = components["schemas"]["Sweep"];

/** The cheapest units of a collection, of all marketplaces: mostly one transaction, which leaves out what is gone when it is mined. */
export async function planSweep(
  clients: Clients,
  { budgetWei, askIds, ...input }: SweepInput,
  options: SweepOptions,
): Promise<Plan> {
  demandOwnAccount(clients);
  const { api, account } = clients;
  const only = askIds === undefined ? {} : { askIds: [...askIds] };
  const body = { ...input, ...only, budgetWei: `${budgetWei}`, buyer: account.address };
  const { data } = await api.post("/v1/listings/sweep", body, callOptions(options));
  const items = checked(() => itemsOf(clients, data));
  assertSafe(sumOf(items) <= budgetWei, "it costs more than the budget");
  const steps = new Steps();
  const currency = bidCurrency[api.chainId];
  const wei = sumOf(items.filter((one) => isSame(one.currency, currency)));
  if (wei > 0n) await steps.approveAmount(clients, currency, wei);
  for (const transaction of data.transactions) {
    const bought = itemsIn(transaction, items);
    const call = await checkedSweep(clients, transaction, bought);
    const price = formatAmount(api.chainId, zeroAddress, sumOf(bought));
    const description = `Buy from ${bought.length} listings of ${input.collection} for ${price}`;
    const action = { name: "sweep", collection: input.collection, items: bought } as const;
    const touched = bought.map(({ askId }) => ({ side: "ask", id: askId }) as const);
    steps.send(action, description, touched, call);
  }
  return planOf(clients, "sweep", steps, refusedOf(data));
}

const sumOf = (items: readonly BuyAction[]) =>
  items.reduce((sum, { priceWei }) => sum + BigInt(priceWei), 0n);

/** Skipped listings are no part of the request: they are numbered in the order of the answer. */
const refusedOf = ({ skipped }: Sweep) =>
  skipped.map(({ askId, code, error }, index) => ({ index, code, message: `${askId}: ${error}` }));

function itemsOf({ api }: Clients, { items }: Sweep): BuyAction[] {
  const known = [zeroAddress, bidCurrency[api.chainId]];
  return items.map(({ askId, contract, tokenId, quantityExact, priceWei, currency }) => {
    const isKnown = known.some((one) => isSame(one, currency.address));
    assertSafe(isKnown, "it is paid in a currency that the market does not use");
    return {
      name: "buy",
      askId,
      contract: contract as Address,
      tokenId,
      quantity: quantityExact,
      priceWei,
      currency: currency.address as Address,
    };
  });
}

type Transaction = Sweep["transactions"][number];

function itemsIn({ askIds }: Transaction, items: readonly BuyAction[]): BuyAction[] {
  return askIds.map((askId) => {
    const item = items.find((one) => one.askId === askId);
    assertSafe(item !== undefined, `${askId} was not asked for`);
    return item;
  });
}

async function checkedSweep(
  clients: Clients,
  transaction: Transaction,
  items: readonly BuyAction[],
): Promise<Call> {
  checked(() => checkSweep(transaction, items, clients.account.address));
  await checkOrderIds(clients, transaction, transaction.askIds);
  const { to, data, value } = transaction;
  return { to: to as Address, data: data as Hex, valueWei: BigInt(value) };
}

/** What is left of planned items now: a call that buys it, and what is missing; null: nothing is left. */
export async function sweepAgain(
  clients: Clients,
  { collection, items }: { readonly collection: string; readonly items: readonly BuyAction[] },
  options: SweepOptions,
): Promise<{ call: Call | null; missed: MissedListing[] }> {
  const units = items.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
  const body = {
    collection,
    askIds: items.map(({ askId }) => askId),
    count: Number(units),
    budgetWei: `${sumOf(items)}`,
    buyer: clients.account.address,
  };
  const { data } = await clients.api.post("/v1/listings/sweep", body, callOptions(options));
  const left = checked(() => itemsOf(clients, data));
  for (const one of left) checked(() => checkPlanned(one, items));
  const [transaction] = data.transactions;
  const ids: readonly string[] = transaction?.askIds ?? [];
  const missed = items
    .filter(({ askId }) => !ids.includes(askId))
    .map(({ askId }) => {
      const why = data.skipped.find((one) => one.askId === askId);
      return {
        askId,
        code: why?.code ?? "unavailable",
        message: why?.error ?? "It can no longer be bought",
      };
    });
  if (transaction === undefined) return { call: null, missed };
  const call = await checkedSweep(clients, transaction, itemsIn(transaction, left));
  return { call, missed };
}

/** No more units than planned, at the price of the plan. */
function checkPlanned(item: BuyAction, items: readonly BuyAction[]): void {
  const planned = items.find(({ askId }) => askId === item.askId);
  assertSafe(planned !== undefined, `${item.askId} was not planned`);
  const [units, plannedUnits] = [BigInt(item.quantity), BigInt(planned.quantity)];
  assertSafe(units <= plannedUnits, "it is for more units than planned");
  const isPrice = BigInt(item.priceWei) * plannedUnits === BigInt(planned.priceWei) * units;
  assertSafe(isPrice, "it has another price");
  const isToken = isSame(item.contract, planned.contract) && item.tokenId === planned.tokenId;
  assertSafe(isToken && isSame(item.currency, planned.currency), "it is for another token");
}
