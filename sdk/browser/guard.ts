import { type Address, decodeFunctionData, type Hex, hexToBigInt, zeroAddress } from "viem";
import { exchangeAbi } from "../src/viem/abis.ts";
import { encodeAcceptance } from "../src/viem/checks/check-acceptance.ts";
import { checkOrder } from "../src/viem/checks/check-order.ts";
import { checkPurchase, checkSweep, decodeSweep } from "../src/viem/checks/check-purchase.ts";
import {
  domainOf,
  emptyOrder,
  exchange,
  isSame,
  orderHash,
  orderTypes,
} from "../src/viem/exchange.ts";
import type {
  AcceptAction,
  BuyAction,
  CancelAction,
  PlannedAction,
  SweepAction,
} from "../src/viem/plan/actions.ts";
import { cancelAllCall } from "../src/viem/plan/cancel.ts";
import { parseComponents, type TextComponents } from "../src/viem/plan/components.ts";
import { callOfFixed, isFixed } from "../src/viem/plan/fixed-call.ts";
import type { Plan, Step } from "../src/viem/plan/plan.ts";
import { assertSafe, checked, WalletError } from "../src/viem/wallet-error.ts";
import type { Eip1193 } from "./wallets.ts";

const reads =
  /^(?:eth_(?!sign|send)\w+|net_version|web3_clientVersion|wallet_get(?:Capabilities|CallsStatus))$/;

/**
 * The wallet, as far as a plan needs it: it may be read, and be asked for signatures and transactions that the plan
 * shows. Everything else is `unsafe_answer`, whatever led to it. Without a plan it is only read.
 */
export function guardWallet(provider: Eip1193, plan: Plan | null): Eip1193 {
  return {
    async request(request) {
      checked(() => checkRequest(request, plan));
      return provider.request(request);
    },
  };
}

function checkRequest(
  { method, params = [] }: Parameters<Eip1193["request"]>[0],
  plan: Plan | null,
) {
  if (reads.test(method)) return;
  assertSafe(plan !== null, "nothing is to be signed or sent yet");
  if (method === "eth_signTypedData_v4") checkSignature(params, plan);
  else if (method === "eth_sendTransaction") checkTransaction(params, plan);
  else if (method === "wallet_sendCalls") checkTogether(params, plan);
  else assertSafe(false, `the wallet would be asked for ${method}`);
}

type TypedData = {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly primaryType: string;
  readonly message: { readonly tree?: unknown };
};

function checkSignature([signer, text]: readonly unknown[], plan: Plan): void {
  assertSafe(isSame(String(signer), plan.account), "another account signs");
  const { domain, types, message, primaryType }: TypedData = JSON.parse(String(text));
  const expected: Readonly<Record<string, unknown>> = domainOf(plan.chainId);
  for (const name of new Set([...Object.keys(domain), ...Object.keys(expected)]))
    assertSafe(
      isSame(String(domain[name]), String(expected[name])),
      "it is signed for another contract",
    );
  for (const [name, members] of Object.entries(orderTypes))
    assertSafe(JSON.stringify(types[name]) === JSON.stringify(members), "it is no order");
  assertSafe(
    primaryType === (message.tree === undefined ? "OrderComponents" : "BulkOrder"),
    "it is no order",
  );
  const shown = new Set(plan.steps.flatMap((step) => hashesOf(plan, step)));
  const signed = message.tree === undefined ? [message] : [message.tree].flat(Infinity as 10);
  for (const one of signed) {
    const hash = orderHash(parseComponents(one as TextComponents));
    const isGap = message.tree !== undefined && hash === emptyHash;
    assertSafe(isGap || shown.has(hash), "an order is not in the plan");
  }
}

const emptyHash = orderHash(emptyOrder);

/** Of the orders that a step shows, each of which is what it says. */
function hashesOf({ chainId, maker }: Plan, step: Step): Hex[] {
  if (step.kind !== "sign") return [];
  return step.orders.map((order) => {
    const components = parseComponents(order.components);
    checkOrder(components, { ...order, chainId, maker });
    return orderHash(components);
  });
}

type Sent = {
  readonly from?: Address;
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: Hex;
};
type Call = { readonly to: Address; readonly data: Hex; readonly value: string };

function checkTransaction([sent]: readonly unknown[], plan: Plan): void {
  const { from = zeroAddress, ...call } = sent as Sent;
  assertSafe(isSame(from, plan.account), "another account sends");
  stepOfCall(call, plan.steps, plan);
}

/** The step that shows a call. */
function stepOfCall(
  { to = zeroAddress, data = "0x", value = "0x0" }: Omit<Sent, "from">,
  steps: readonly Step[],
  plan: Plan,
): Step {
  const call = { to, data, value: `${hexToBigInt(value)}` };
  const found = steps.find((step) => holds(() => checkCall(call, step, plan)));
  assertSafe(found !== undefined, "the transaction is not in the plan");
  return found;
}

/** Of EIP-5792. */
type Together = {
  readonly from?: Address;
  readonly chainId?: Hex;
  readonly atomicRequired?: boolean;
  readonly capabilities?: unknown;
  readonly calls?: readonly Omit<Sent, "from">[];
};

/** Each call is another step's, on the plan's chain, and all are carried out or none; nothing else is asked for. */
function checkTogether([asked]: readonly unknown[], plan: Plan): void {
  const { from = zeroAddress, chainId = "0x0", calls = [], ...rest } = asked as Together;
  assertSafe(isSame(from, plan.account), "another account sends");
  assertSafe(hexToBigInt(chainId) === BigInt(plan.chainId), "it goes to another chain");
  assertSafe(rest.atomicRequired === true, "a part of it could be carried out alone");
  assertSafe(rest.capabilities === undefined, "it asks for more than the calls");
  const left = new Set<Step>(plan.steps);
  for (const { capabilities, ...call } of calls as (Omit<Sent, "from"> &
    Pick<Together, "capabilities">)[]) {
    assertSafe(capabilities === undefined, "it asks for more than the calls");
    left.delete(stepOfCall(call, [...left], plan));
  }
}

function checkCall(call: Call, step: Step, plan: Plan): void {
  if (isFixed(step)) {
    assertSame(call, callOfFixed(step));
    return;
  }
  assertSafe(step.kind === "send", "the step sends nothing");
  assertSafe(isSame(call.to, exchange), "it goes to another contract");
  checkAction(call, step.action, plan);
}

function checkAction(call: Call, action: PlannedAction, plan: Plan): void {
  switch (action.name) {
    case "buy":
      checkPurchase(call, action, plan.account);
      break;
    case "sweep":
      checkSweep(call, partOf(call, action), plan.account);
      break;
    case "accept":
      assertSame(call, acceptanceOf(call, action, plan));
      break;
    case "cancel":
      checkCancel(call, action, plan);
      break;
    case "cancelAll":
      assertSame(call, cancelAllCall);
      break;
  }
}

/** Of a sweep, what is left when it is sent. */
function partOf({ data }: Call, { items }: SweepAction): BuyAction[] {
  return decodeSweep(data).orders.map(({ parameters: { offer } }) => {
    const [nft] = offer;
    const item = items.find(
      ({ contract, tokenId }) =>
        nft !== undefined &&
        isSame(contract, nft.token) &&
        BigInt(tokenId) === nft.identifierOrCriteria,
    );
    assertSafe(item !== undefined, "it is for other listings too");
    return item;
  });
}

/** The call that its own arguments make, once they are checked as an answer of the API is. */
function acceptanceOf({ data }: Call, action: AcceptAction, { account }: Plan) {
  const { functionName: method, args = [] } = decodeFunctionData({ abi: exchangeAbi, data });
  const [first, criteriaResolvers, fulfillments, recipient] = args;
  const matched = { orders: first, criteriaResolvers, fulfillments, recipient };
  const own = method === "matchAdvancedOrders" ? matched : { basicOrderParameters: first };
  const answer = { method, to: exchange, value: "0", ...own } as never;
  return { to: exchange, data: encodeAcceptance(answer, action, account), valueWei: 0n };
}

function checkCancel({ data, value }: Call, { orders }: CancelAction, { maker }: Plan): void {
  const { functionName, args } = decodeFunctionData({ abi: exchangeAbi, data });
  assertSafe(functionName === "cancel" && value === "0", "it calls another function");
  for (const order of args[0]) {
    assertSafe(isSame(order.offerer, maker), "it cancels an order of somebody else");
    const hash = orderHash(order);
    const isShown = orders.some(({ id }) => id.toLowerCase().endsWith(hash));
    assertSafe(isShown, "it cancels another order");
  }
}

function assertSame(
  call: Call,
  { to, data, valueWei }: { readonly to: Address; readonly data: Hex; readonly valueWei: bigint },
): void {
  const isIt = isSame(call.to, to) && isSame(call.data, data) && BigInt(call.value) === valueWei;
  assertSafe(isIt, "it is another call");
}

/** Whether a check passes; bytes that cannot be read do not. */
function holds(check: () => void): boolean {
  try {
    checked(check);
    return true;
  } catch (error) {
    if (error instanceof WalletError) return false;
    throw error;
  }
}
