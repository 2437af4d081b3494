import { type Address, formatEther, zeroAddress } from "viem";
import type { ChainId } from "../src/chains.ts";
import type { Market } from "../src/index.ts";
import { bidCurrency, formatAmount, isSame } from "../src/viem/exchange.ts";
import type { AcceptAction, BuyAction, Plan, PlannedOrder, Step, Verb } from "../src/viem/index.ts";

/** A line of the sheet; `address`: who is meant. */
type SummaryLine = {
  readonly label: string;
  readonly text: string;
  readonly address?: string;
};

/** What a plan does, for people. */
export type PlanSummary = {
  /** Who pays and receives what, and how long it holds. */
  readonly lines: readonly SummaryLine[];
  /** What may go wrong, and what was left out of the plan. */
  readonly risks: readonly string[];
  /** What the wallet lacks, in words; empty: it has what the plan needs. */
  readonly missing: readonly string[];
};

/** What the wallet has. `asOne`: transactions of the plan that it takes together. `hasOwners`: the account is a contract. */
type WalletState = {
  readonly native: bigint;
  readonly wrapped: bigint;
  readonly asOne: number;
  readonly hasOwners: boolean;
};

/** Who is paid by a purchase or a sale, as the API has it. */
type Party = { readonly label: string; readonly address: string; readonly wei: bigint };

export function summaryOf(
  plan: Plan,
  { asOne, hasOwners, ...balances }: WalletState,
  parties: readonly Party[],
): PlanSummary {
  const { chainId, refused } = plan;
  const gasWei = sum(plan.steps, ({ costs }) => BigInt(costs.gasWei));
  const gas = { label: "Gas, about", text: gasWei === 0n ? "none" : roughly(chainId, gasWei) };
  const together = { label: "In your wallet", text: `one question for ${asOne} transactions` };
  return {
    lines: [
      ...plan.steps.flatMap((step) => linesOf(plan, step)),
      ...totalOf(plan),
      ...parties.map(({ label, address, wei }) => ({ label, address, text: paid(plan, wei) })),
      gas,
      ...(asOne > 1 ? [together] : []),
    ],
    risks: [
      ...refused.map(({ message }) => `Left out: ${message}`),
      ...(hasOwners ? [ownersRisk] : []),
      ...risksOf[plan.verb],
    ],
    // Whoever carries it out pays the gas.
    missing: missingOf(plan, balances, hasOwners ? 0n : gasWei),
  };
}

const sum = <Item>(items: readonly Item[], weiOf: (item: Item) => bigint): bigint =>
  items.reduce((total, item) => total + weiOf(item), 0n);

const rough = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** An estimate is not written to the last digit. */
function roughly(chainId: ChainId, wei: bigint): string {
  const [, symbol = ""] = formatAmount(chainId, zeroAddress, wei).split(" ");
  return `${rough.format(Number(formatEther(wei)))} ${symbol}`;
}

/** In the currency of the plan's sale. */
function paid({ chainId, steps }: Plan, wei: bigint): string {
  const action = steps.find((step) => step.kind === "send")?.action;
  const currency = action !== undefined && "currency" in action ? action.currency : zeroAddress;
  return formatAmount(chainId, currency, wei);
}

const takenBack = { tokens: "approval of all tokens", money: "allowance of the currency" };

function linesOf(plan: Plan, step: Step): SummaryLine[] {
  if (step.kind === "sign") return linesOfOrders(plan, step.orders);
  if (step.kind === "revoke")
    return [{ label: "You take back", text: takenBack[step.takes], address: step.token }];
  if (step.kind === "wrap")
    return [{ label: "You wrap", text: formatAmount(plan.chainId, zeroAddress, step.costs.wei) }];
  if (step.kind !== "send") return [];
  const { action } = step;
  if (action.name === "buy") return linesOfPurchase(plan, action);
  if (action.name === "sweep") return action.items.flatMap((one) => linesOfPurchase(plan, one));
  if (action.name !== "accept") return [];
  const { netWei, currency } = action;
  return [
    { label: "You give", ...tokensOf(action) },
    { label: "You receive", text: formatAmount(plan.chainId, currency, netWei) },
  ];
}

/** What several purchases cost together; the coin and the wrapped one are worth the same. */
function totalOf({ chainId, steps }: Plan): SummaryLine[] {
  const bought = steps.flatMap((step) => {
    if (step.kind !== "send") return [];
    if (step.action.name === "sweep") return step.action.items;
    return step.action.name === "buy" ? [step.action] : [];
  });
  if (bought.length < 2) return [];
  const text = formatAmount(
    chainId,
    zeroAddress,
    sum(bought, ({ priceWei }) => BigInt(priceWei)),
  );
  return [{ label: "You pay in all", text }];
}

function linesOfPurchase({ chainId }: Plan, action: BuyAction): SummaryLine[] {
  const { priceWei, currency } = action;
  return [
    { label: "You get", ...tokensOf(action) },
    { label: "You pay", text: formatAmount(chainId, currency, priceWei) },
  ];
}

function tokensOf({ contract, tokenId, quantity }: BuyAction | AcceptAction) {
  const units = quantity === "1" ? "" : `${quantity} of `;
  return { text: `${units}token ${tokenId}`, address: contract };
}

/** Of several orders each on a line, and what all of them pay to whom. */
function linesOfOrders(plan: Plan, orders: readonly PlannedOrder[]): SummaryLine[] {
  const [first] = orders;
  if (first === undefined) return [];
  if (orders.length === 1) return linesOfOrder(plan, first);
  const fees = new Map<string, bigint>();
  for (const { components } of orders)
    for (const { recipient, startAmount } of components.consideration.slice(1))
      fees.set(recipient, (fees.get(recipient) ?? 0n) + BigInt(startAmount));
  const amount = (wei: bigint | string) => formatAmount(plan.chainId, zeroAddress, wei);
  return [
    ...orders.map(({ contract, tokenId, criteria, quantity, unitPriceWei }) => ({
      label: `You offer ${quantity === "1" ? "" : `${quantity} × `}${subjectOf(tokenId, criteria)}`,
      text: `for ${amount(unitPriceWei)}`,
      address: contract,
    })),
    { label: "You receive in all", text: amount(sum(orders, ({ netWei }) => BigInt(netWei))) },
    ...[...fees].map(([address, wei]) => ({
      ...{ label: "Fees or royalties to", text: amount(wei), address },
    })),
    { label: "Until", text: dateOf(first.components.endTime) },
  ];
}

function linesOfOrder({ chainId }: Plan, order: PlannedOrder): SummaryLine[] {
  const { side, contract, tokenId, criteria, quantity, unitPriceWei, netWei, components } = order;
  const isAsk = side === "ask";
  const currency = isAsk ? zeroAddress : bidCurrency[chainId];
  const amount = (wei: bigint | string) => formatAmount(chainId, currency, wei);
  const units = quantity === "1" ? "" : `${quantity} × `;
  const fees = components.consideration.slice(1);
  return [
    {
      label: isAsk ? "You offer" : "You want",
      text: units + subjectOf(tokenId, criteria),
      address: contract,
    },
    { label: isAsk ? "Price of a unit" : "You pay for one", text: amount(unitPriceWei) },
    { label: isAsk ? "You receive in all" : "The seller receives", text: amount(netWei) },
    ...fees.map(({ recipient, startAmount }) => ({
      label: "Fee or royalty to",
      text: amount(startAmount),
      address: recipient,
    })),
    { label: "Until", text: dateOf(components.endTime) },
  ];
}

function subjectOf(tokenId: string | null, criteria: PlannedOrder["criteria"]): string {
  if (tokenId !== null) return `token ${tokenId}`;
  if (criteria === undefined) return "any token";
  return `any of ${criteria.tokenIds.length} tokens`;
}

const dateOf = (seconds: string): string =>
  `${new Date(Number(seconds) * 1_000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

const risksOf: Readonly<Record<Verb, readonly string[]>> = {
  buy: [
    "Somebody may be faster: then the transaction fails, and only its gas is spent.",
    "No more than the price above is paid.",
  ],
  list: [
    "Anybody can buy at this price until it ends. To end it earlier, cancel it: that costs gas.",
    "The allowance, where it is asked for, lets the marketplaces' conduit move your tokens of this collection for orders that you signed. Your wallet's exposure page shows it.",
  ],
  offer: [
    "Anybody with such a token can accept until it ends. To end it earlier, cancel it: that costs gas.",
    "The offer holds while your wallet has the amount.",
  ],
  sweep: ["Listings that are gone by then are left out, and are not paid for."],
  accept: ["The bidder may be gone by then: the transaction fails, and only its gas is spent."],
  cancel: ["Until the transaction is mined, the orders can still be filled."],
  relist: ["The listing at the old price holds until it is cancelled."],
  approve: [],
  wrap: [],
  revoke: [
    "Listings and offers that need what is taken back cannot be filled until it is given again; they are not ended.",
  ],
};

const ownersRisk =
  "Your account is a contract: this goes on when enough of its owners have agreed in its wallet. Until then, others may be faster.";

/** Money of the wallet beside what the plan takes out of it. */
function missingOf(
  plan: Plan,
  { native, wrapped }: Pick<WalletState, "native" | "wrapped">,
  gasWei: bigint,
): string[] {
  const { chainId, steps } = plan;
  const coin = bidCurrency[chainId];
  const paidIn = (isWrapped: boolean) =>
    sum(
      steps.filter(({ costs }) => isSame(costs.currency, coin) === isWrapped),
      ({ costs }) => BigInt(costs.wei),
    );
  return [
    lackOf(chainId, zeroAddress, paidIn(false) + gasWei, native),
    lackOf(chainId, coin, paidIn(true) + largestOffer(steps), wrapped + wrappedBy(steps)),
  ].filter((one) => one !== null);
}

const wrappedBy = (steps: readonly Step[]): bigint =>
  sum(steps, ({ kind, costs }) => (kind === "wrap" ? BigInt(costs.wei) : 0n));

/** Each offer must be covered by itself. */
function largestOffer(steps: readonly Step[]): bigint {
  const offers = steps
    .flatMap((step) => (step.kind === "sign" ? step.orders : []))
    .filter(({ side }) => side === "bid")
    .map(({ unitPriceWei, quantity }) => BigInt(unitPriceWei) * BigInt(quantity));
  return offers.reduce((most, one) => (one > most ? one : most), 0n);
}

function lackOf(chainId: ChainId, currency: Address, needed: bigint, held: bigint): string | null {
  if (needed <= held) return null;
  const [needs, has] = [needed, held].map((wei) => formatAmount(chainId, currency, wei));
  return `Your wallet has ${has}, and this needs ${needs}.`;
}

/** Who is paid when listings are bought: their sellers, fees and royalties. */
export async function readParties(api: Market, { steps }: Plan): Promise<Party[]> {
  const bought = steps.flatMap((step) =>
    step.kind === "send" && step.action.name === "buy" ? [step.action] : [],
  );
  const [only, ...others] = bought;
  if (only === undefined || others.length > 0) return [];
  const { data } = await api.get("/v1/listings/{askId}", { askId: only.askId });
  const units = BigInt(only.quantity);
  const fees = data.fees.map(({ kind, recipient, wei }) => ({
    label: { service: "Marketplace fee to", royalty: "Royalty to", other: "Also paid" }[kind],
    address: recipient,
    wei: BigInt(wei) * units,
  }));
  const rest = BigInt(only.priceWei) - sum(fees, ({ wei }) => wei);
  return [{ label: "The seller receives", address: data.maker, wei: rest }, ...fees];
}
