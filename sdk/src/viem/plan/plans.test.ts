import { zeroAddress } from "viem";
import { expect, it } from "vitest";
import { market } from "../../market.ts";
import type { Clients } from "../clients.ts";
import { bidCurrency } from "../exchange.ts";
import { planAccept } from "./accept.ts";
import { demandUnits } from "./buy.ts";
import { mostCancelled, planCancel } from "./cancel.ts";
import { planRelist } from "./relist.ts";

const account = "0x00000000000000000000000000000000000000aa";
const contract = "0x00000000000000000000000000000000000000cc";

/** Clients of an API that answers by path, and of a chain where everything is approved. */
function clientsOf(answers: Record<string, (url: URL) => unknown>): Clients {
  const fetch = async (given: unknown): Promise<Response> => {
    const url = new URL(`${given}`);
    const body = answers[url.pathname]?.(url);
    return Response.json(body ?? { code: "not_found" }, { status: body ? 200 : 404 });
  };
  const api = market({ url: "http://api.test", chainId: 33139, fetch: fetch as never });
  const timestamp = BigInt(Math.floor(Date.now() / 1_000));
  const publicClient = {
    readContract: async ({ functionName }: { functionName: string }) =>
      functionName === "getCounter" ? 0n : true,
    getBlock: async () => ({ timestamp }),
    getGasPrice: async () => 1n,
  };
  return { api, publicClient, account: { address: account }, maker: account } as unknown as Clients;
}

it("of a bid that is filled in part, what is left is accepted", async () => {
  const bid = {
    ...{ status: "active", kind: "single-token", contract, tokenId: "1", sellerNetWei: "10" },
    ...{ quantityExact: "5", quantityRemainingExact: "2" },
    currency: { address: bidCurrency[33139] },
  };
  const clients = clientsOf({ "/v1/bids/b": () => ({ data: bid }) });
  const { steps } = await planAccept(clients, { bidId: "b" }, {});
  const [send] = steps.filter((step) => step.kind === "send");
  expect(send?.action).toMatchObject({ quantity: "2", netWei: "20" });
});

it("a dearer listing cancels every cheaper one of its token, however many there are", async () => {
  const old = { maker: account, contract, tokenId: "1", standard: "erc721", status: "active" };
  const listing = (askId: string) => ({
    ...{ ...old, askId, priceWei: "1", quantityExact: "1", quantityRemainingExact: "1" },
  });
  const hidden = Array.from({ length: 130 }, (_, index) => listing(`hidden-${index}`));
  const list = ({ searchParams }: URL) => {
    if (searchParams.get("status") === "active") return page([listing("a")], null);
    const start = Number(searchParams.get("cursor") ?? 0);
    const end = start + Number(searchParams.get("per_page") ?? 50);
    return page(hidden.slice(start, end), end < hidden.length ? `${end}` : null);
  };
  const page = (data: unknown[], next_cursor: string | null) => ({ data, meta: { next_cursor } });
  const amounts = { identifierOrCriteria: "1", startAmount: "1", endAmount: "1" };
  const paid = { itemType: 0, token: zeroAddress, identifierOrCriteria: "0", recipient: null };
  const item = {
    ...{ orderType: 0, blocked: null, message: null },
    offer: [{ itemType: 2, token: contract, ...amounts }],
    consideration: [{ ...paid, startAmount: "9", endAmount: "9" }],
  };
  const params = { saltPrefix: "0x00000000", bounds: { clockSkewSeconds: 60 } };
  const clients = clientsOf({
    "/v1/listings/a": () => ({ data: listing("a") }),
    "/v1/listings": list,
    "/v1/orders/params": () => ({ data: params }),
    "/v1/listings/requirements": () => ({ data: { items: [item] } }),
  });
  const { steps } = await planRelist(clients, [{ askId: "a", unitPriceWei: 9n }], {});
  const [send] = steps.filter((step) => step.kind === "send");
  const cancelled = send?.action.name === "cancel" ? send.action.orders.map(({ id }) => id) : [];
  expect(cancelled).toHaveLength(131);
  expect(new Set(cancelled).size).toBe(131);
});

it.each([
  [1, [1]],
  [mostCancelled, [mostCancelled]],
  [mostCancelled * 2 + 1, [mostCancelled, mostCancelled, 1]],
])("%i orders are cancelled in transactions within the gas of one", async (count, expected) => {
  const bidIds = Array.from({ length: count }, (_, index) => `b-${index}`);
  const { steps } = await planCancel(clientsOf({}), { bidIds }, {});
  const cancelled = steps.flatMap((step) =>
    step.kind === "send" && step.action.name === "cancel" ? [step.action.orders] : [],
  );
  expect(cancelled.map(({ length }) => length)).toEqual(expected);
  expect(cancelled.flat().map(({ id }) => id)).toEqual(bidIds);
  for (const step of steps)
    if (step.kind === "send") expect(BigInt(step.costs.gasWei)).toBeLessThan(2n ** 24n);
});

it.each([
  [0, 1n, 4n, "m is sold as a whole: ask for its 4 units, not for 1"],
  [2, 3n, 4n, "m is sold as a whole: ask for its 4 units, not for 3"],
  [0, 4n, 4n, null],
  [1, 1n, 4n, null],
  [3, 0n, 4n, "4 units can be bought, not 0"],
  [1, 5n, 4n, "4 units can be bought, not 5"],
])("of an order of type %i, %i of %i units: %s", (orderType, quantity, units, refused) => {
  const demand = () =>
    demandUnits(quantity, units, { askId: "m", orderData: { parameters: { orderType } } });
  if (refused === null) expect(demand).not.toThrow();
  else expect(demand).toThrow(refused);
});
