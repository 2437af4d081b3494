import { type Address, type Hex, zeroAddress } from "viem";
import type { components } from "../../document.ts";
import { checkOrderId } from "../checks/check-order-id.ts";
import { checkPurchase } from "../checks/check-purchase.ts";
import { type Clients, callOptions } from "../clients.ts";
import { bidCurrency, formatAmount, isSame } from "../exchange.ts";
import { assertSafe, checked, WalletError, wrongArgument } from "../wallet-error.ts";
import type { BuyAction } from "./actions.ts";
import type { Call, Plan, RefusedItem } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

/** A listing, or whichever listing of a token is the cheapest. */
export type BuyItem =
  | { readonly askId: string; readonly quantity?: Units }
  | { readonly contract: Address; readonly tokenId: bigint; readonly quantity?: Units };

/** Default: 1. A listing that is sold as a whole only must be asked for with all of its units. */
type Units = bigint;

export type BuyOptions = {
  /** The most that may be paid for everything together. Needed when listings are not named. */
  readonly maxPriceWei?: bigint;
  readonly signal?: AbortSignal;
};

type BuyData = components["schemas"]["BuyData"];

/** The most listings of a request. */
const most = 20;

/** One transaction for each listing, from any marketplace; each can fail without the others. */
export async function planBuy(
  clients: Clients,
  items: readonly BuyItem[],
  options: BuyOptions,
): Promise<Plan> {
  demandOwnAccount(clients);
  const refused: RefusedItem[] = [];
  const found = await Promise.all(items.map((item) => findListing(clients, item, options)));
  const purchases: Purchase[] = [];
  const askIds = found.filter((id) => id !== undefined);
  const quotes = await fetchQuotes(clients, askIds, options);
  for (const [index, item] of items.entries()) {
    const askId = found[index];
    const quote = quotes.get(askId ?? "");
    if (quote === undefined || "code" in quote) {
      const message = quote?.error ?? "The token is not listed";
      refused.push({ index, code: quote?.code ?? "not_found", message });
    } else purchases.push(await checkedPurchase(clients, item, quote));
  }
  demandPrice(purchases, options.maxPriceWei);
  const steps = new Steps();
  await addPurchases(clients, steps, purchases);
  return planOf(clients, "buy", steps, refused);
}

/** What is bought, and the transaction as it would be now; of a part of a listing it is not known yet. */
type Purchase = { readonly action: BuyAction; readonly call?: Call };

async function checkedPurchase(clients: Clients, item: BuyItem, quote: BuyData): Promise<Purchase> {
  const action = checked(() => actionOf(clients, item, quote));
  await checkOrderId(clients, quote, action.askId);
  if (action.quantity !== quote.quantityExact) return { action };
  const { to, data, value } = quote;
  return { action, call: { to: to as Address, data: data as Hex, valueWei: BigInt(value) } };
}

async function addPurchases(
  clients: Clients,
  steps: Steps,
  purchases: readonly Purchase[],
): Promise<void> {
  const currency = bidCurrency[clients.api.chainId];
  const wei = sumOf(purchases.filter(({ action }) => isSame(action.currency, currency)));
  if (wei > 0n) await steps.approveAmount(clients, currency, wei);
  for (const { action, call } of purchases) {
    const { askId, contract, tokenId, quantity, priceWei } = action;
    const what = quantity === "1" ? `token ${tokenId}` : `${quantity} of token ${tokenId}`;
    const price = formatAmount(clients.api.chainId, action.currency, priceWei);
    const description = `Buy ${what} of ${contract} for ${price}`;
    steps.send(action, description, [{ side: "ask", id: askId }], call);
  }
}

const sumOf = (purchases: readonly Purchase[]) =>
  purchases.reduce((sum, { action }) => sum + BigInt(action.priceWei), 0n);

/** Currencies of the market are worth the same: 1 WETH is 1 ETH. */
function demandPrice(purchases: readonly Purchase[], maxPriceWei: bigint | undefined): void {
  const totalWei = sumOf(purchases);
  if (maxPriceWei === undefined || totalWei <= maxPriceWei) return;
  const message = `It costs ${totalWei} wei, more than ${maxPriceWei}`;
  throw new WalletError("price_limit", message);
}

async function findListing(
  { api }: Clients,
  item: BuyItem,
  options: BuyOptions,
): Promise<string | undefined> {
  if ("askId" in item) return item.askId;
  if (options.maxPriceWei === undefined)
    throw wrongArgument("maxPriceWei is needed to buy a token without naming its listing");
  const { data } = await api.get(
    "/v1/listings",
    {
      collection: item.contract,
      token_id: `${item.tokenId}`,
      sort: "price_asc",
      marketplace: "all",
      per_page: 1,
    },
    callOptions(options),
  );
  return data[0]?.askId;
}

type Quote = BuyData | { readonly code: string; readonly error: string };

async function fetchQuotes(
  { api, account }: Clients,
  askIds: readonly string[],
  options: BuyOptions,
): Promise<Map<string, Quote>> {
  const quotes = new Map<string, Quote>();
  for (let start = 0; start < askIds.length; start += most) {
    const part = askIds.slice(start, start + most);
    const body = { askIds: part, buyer: account.address };
    const { data } = await api.post("/v1/listings/buy-data-bulk", body, callOptions(options));
    for (const quote of [...data.listings, ...data.errors]) quotes.set(quote.askId, quote);
  }
  return quotes;
}

/** What the plan then shows; the answer itself is requested again when the step runs. */
function actionOf({ api, account }: Clients, item: BuyItem, quote: BuyData): BuyAction {
  const [nft] = quote.orderData.parameters.offer;
  assertSafe(nft !== undefined, "its order offers no token");
  const currency = quote.currency.address as Address;
  const isKnown = isSame(currency, zeroAddress) || isSame(currency, bidCurrency[api.chainId]);
  assertSafe(isKnown, "it is paid in a currency that the market does not use");
  const whole: BuyAction = {
    name: "buy",
    askId: quote.askId,
    contract: nft.token as Address,
    tokenId: nft.identifierOrCriteria,
    quantity: quote.quantityExact,
    priceWei: quote.priceWei,
    currency,
  };
  checkPurchase(quote, whole, account.address);
  if ("contract" in item) {
    const isToken = isSame(item.contract, whole.contract) && whole.tokenId === `${item.tokenId}`;
    assertSafe(isToken, "it is for another token");
  }
  const units = BigInt(whole.quantity);
  const { quantity = 1n } = item;
  demandUnits(quantity, units, quote);
  const priceWei = `${(BigInt(whole.priceWei) * quantity) / units}`;
  return { ...whole, quantity: `${quantity}`, priceWei };
}

type Sold = {
  readonly askId: string;
  readonly orderData: { readonly parameters: { readonly orderType: number } };
};

/** Seaport's order types that are filled as a whole only. */
const wholeOnly: ReadonlySet<number> = new Set([0, 2]);

export function demandUnits(quantity: bigint, units: bigint, { askId, orderData }: Sold): void {
  const isPart = quantity !== units && wholeOnly.has(orderData.parameters.orderType);
  if (quantity >= 1n && quantity <= units && !isPart) return;
  const message = isPart
    ? `${askId} is sold as a whole: ask for its ${units} units, not for ${quantity}`
    : `${units} units can be bought, not ${quantity}`;
  throw new WalletError("blocked", message, { reason: "bad_amount" });
}
