import {
  type Address,
  encodeFunctionData,
  getTypesForEIP712Domain,
  numberToHex,
  serializeTypedData,
  zeroAddress,
  zeroHash,
} from "viem";
import { expect, it } from "vitest";
import { exchangeAbi } from "../src/viem/abis.ts";
import {
  conduit,
  conduitKey,
  domainOf,
  exchange,
  orderHash,
  orderTypes,
} from "../src/viem/exchange.ts";
import type { Plan, PlannedOrder } from "../src/viem/index.ts";
import { cancelAllCall } from "../src/viem/plan/cancel.ts";
import { parseComponents } from "../src/viem/plan/components.ts";
import { callOfFixed } from "../src/viem/plan/fixed-call.ts";
import type { ApproveStep, FixedStep, RevokeStep, WrapStep } from "../src/viem/plan/plan.ts";
import { bulkTypedData } from "../src/viem/run/bulk-order.ts";
import { guardWallet } from "./guard.ts";

const account: Address = "0x00000000000000000000000000000000000000aa";
const contract: Address = "0x00000000000000000000000000000000000000cc";
const chainId = 33139;

function listing(tokenId: string): PlannedOrder {
  const price = { itemType: 0, token: zeroAddress, identifierOrCriteria: "0" };
  const paid = { ...price, startAmount: "10", endAmount: "10", recipient: account };
  const nft = { itemType: 2, token: contract, identifierOrCriteria: tokenId };
  const components = {
    ...{ offerer: account, zone: zeroAddress, zoneHash: zeroHash, orderType: 0, conduitKey },
    ...{ offer: [{ ...nft, startAmount: "1", endAmount: "1" }], consideration: [paid] },
    ...{ startTime: "1", endTime: "2", salt: "3", counter: "0" },
  };
  const terms = { side: "ask", contract, tokenId, quantity: "1" } as const;
  return { ...terms, unitPriceWei: "10", netWei: "10", components };
}

const free = { costs: { wei: "0", currency: zeroAddress, gasWei: "0" }, paysGas: false } as const;
const base = { ...free, description: "", state: "waiting" } as const;
const approve: ApproveStep = {
  ...{ ...base, id: "0-approve", kind: "approve", token: contract, operator: conduit },
  ...{ amountWei: null, isApproved: false },
};
const orders = [listing("1"), listing("2"), listing("3")];
const plan: Plan = {
  ...{ version: 1, verb: "list", chainId, account, maker: account, refused: [] },
  steps: [approve, { ...base, id: "1-sign", kind: "sign", orders, bulk: "auto", signatures: [] }],
};

/** What the wallet was asked for. */
async function ask(method: string, params: readonly unknown[], shown: Plan | null = plan) {
  const asked: string[] = [];
  const provider = { request: async (request: { method: string }) => asked.push(request.method) };
  await guardWallet(provider, shown).request({ method, params });
  return asked;
}

const refusedFor = (why: string) =>
  expect.objectContaining({ code: "unsafe_answer", message: expect.stringContaining(why) });

const domain = domainOf(chainId);
const typed = (message: object, primaryType = "OrderComponents", types: object = orderTypes) =>
  serializeTypedData({
    ...{ domain, primaryType, message },
    types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types },
  } as never);
const permitTypes = { Permit: [{ name: "owner", type: "address" }] };
const ofOrder = (order: PlannedOrder) => typed(parseComponents(order.components));
const ofTree = (all: readonly PlannedOrder[]) => {
  const { types, message } = bulkTypedData(all.map((one) => parseComponents(one.components)));
  return typed(message, "BulkOrder", types);
};

it("reads pass, with and without a plan", async () => {
  expect(await ask("eth_call", [{}], null)).toEqual(["eth_call"]);
  expect(await ask("eth_getBalance", [account])).toEqual(["eth_getBalance"]);
});

it("orders of the plan are signed, alone and together", async () => {
  for (const text of [ofOrder(orders[1] ?? listing("2")), ofTree(orders)])
    expect(await ask("eth_signTypedData_v4", [account, text])).toHaveLength(1);
});

it.each([
  ["another order", ofOrder(listing("4")), "not in the plan"],
  ["another order among those of the plan", ofTree([...orders, listing("4")]), "not in the plan"],
  ["another type of message", typed({ owner: account }, "Permit", permitTypes), "it is no order"],
  [
    "an order at another exchange",
    ofOrder(listing("1")).replace(exchange, contract),
    "for another contract",
  ],
])("%s is not signed", async (_, text, why) => {
  await expect(ask("eth_signTypedData_v4", [account, text])).rejects.toEqual(refusedFor(why));
});

it("an order whose terms differ from what the plan says of it is not signed", async () => {
  const cheap = { ...listing("1"), unitPriceWei: "20" };
  const steps = plan.steps.map((step) =>
    step.kind === "sign" ? { ...step, orders: [cheap] } : step,
  );
  const text = ofOrder(cheap);
  const asked = ask("eth_signTypedData_v4", [account, text], { ...plan, steps });
  await expect(asked).rejects.toEqual(refusedFor("another price"));
});

it("an approval of the plan is sent, and no other transaction", async () => {
  const { to, data } = callOfFixed(approve);
  expect(await ask("eth_sendTransaction", [{ from: account, to, data }])).toHaveLength(1);
  const toOther = callOfFixed({ ...approve, operator: contract });
  for (const call of [
    { from: account, to, data: toOther.data },
    { from: account, to: exchange, data },
    { from: contract, to, data },
    { from: account, to, data, value: "0x1" },
    { from: account, to: contract, value: "0x1" },
  ])
    await expect(ask("eth_sendTransaction", [call])).rejects.toEqual(refusedFor(""));
});

const others: ApproveStep = { ...approve, id: "2-approve", token: account };
const revoke: RevokeStep = {
  ...{
    ...base,
    id: "3-revoke",
    kind: "revoke",
    takes: "money",
    token: contract,
    operator: exchange,
  },
};
const wrap: WrapStep = {
  ...{ ...base, id: "4-wrap", kind: "wrap", token: contract },
  costs: { ...free.costs, wei: "7" },
};
const callOf = (step: FixedStep) => {
  const { to, data, valueWei } = callOfFixed(step);
  return { to, data, value: numberToHex(valueWei) };
};

it("what a plan takes back and wraps is sent, at its amount", async () => {
  const shown: Plan = { ...plan, steps: [revoke, wrap] };
  for (const step of [revoke, wrap])
    expect(await ask("eth_sendTransaction", [{ from: account, ...callOf(step) }], shown)).toEqual([
      "eth_sendTransaction",
    ]);
  for (const call of [callOf(approve), { ...callOf(wrap), value: "0x8" }])
    await expect(ask("eth_sendTransaction", [{ from: account, ...call }], shown)).rejects.toEqual(
      refusedFor("not in the plan"),
    );
});

const shownTogether: Plan = { ...plan, steps: [approve, others, wrap] };
const together = {
  ...{ version: "2.0.0", id: "0x1", chainId: "0x8173", from: account, atomicRequired: true },
  calls: [callOf(approve), callOf(wrap)],
};

it("calls of the plan are taken together", async () => {
  expect(await ask("wallet_sendCalls", [together], shownTogether)).toHaveLength(1);
});

it.each([
  ["a call that is not in the plan", { calls: [...together.calls, callOf(revoke)] }, "not in"],
  ["a call twice", { calls: [callOf(wrap), callOf(wrap)] }, "not in the plan"],
  ["on another chain", { chainId: "0x1" }, "another chain"],
  ["by another account", { from: contract }, "another account"],
  ["in parts", { atomicRequired: false }, "carried out alone"],
  ["with capabilities", { capabilities: { paymasterService: {} } }, "more than the calls"],
  [
    "with a call's capabilities",
    { calls: [{ ...callOf(approve), capabilities: {} }] },
    "more than the calls",
  ],
])("calls are not taken together: %s", async (_, changed, why) => {
  await expect(
    ask("wallet_sendCalls", [{ ...together, ...changed }], shownTogether),
  ).rejects.toEqual(refusedFor(why));
});

/** A transaction that cancels orders, and a plan that cancels the first of them. */
function cancelling(all: readonly PlannedOrder[]): { call: object; shown: Plan } {
  const parsed = all.map(({ components }) => parseComponents(components));
  const data = encodeFunctionData({ abi: exchangeAbi, functionName: "cancel", args: [parsed] });
  const ids = parsed
    .slice(0, 1)
    .map((one) => ({ side: "ask", id: `a-${orderHash(one)}` }) as const);
  const action = { name: "cancel", orders: ids } as const;
  const shown: Plan = { ...plan, steps: [{ ...base, id: "0-send", kind: "send", action }] };
  return { call: { from: account, to: exchange, data }, shown };
}

it("orders of the plan are cancelled, and no others, nor all", async () => {
  const { call, shown } = cancelling([listing("1")]);
  expect(await ask("eth_sendTransaction", [call], shown)).toHaveLength(1);
  const more = cancelling([listing("1"), listing("2")]);
  const { to, data } = cancelAllCall;
  for (const other of [more.call, { from: account, to, data }])
    await expect(ask("eth_sendTransaction", [other], shown)).rejects.toEqual(refusedFor(""));
});

it("nothing is signed or sent without a plan, or in another way", async () => {
  const text = ofOrder(listing("1"));
  await expect(ask("eth_signTypedData_v4", [account, text], null)).rejects.toEqual(
    refusedFor("nothing is to be signed"),
  );
  for (const method of [
    "personal_sign",
    "eth_sign",
    "eth_sendRawTransaction",
    "wallet_grantPermissions",
  ])
    await expect(ask(method, [account, text])).rejects.toEqual(refusedFor(`asked for ${method}`));
});
