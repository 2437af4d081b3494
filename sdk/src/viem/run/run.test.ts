import { expect, it } from "vitest";
import { market } from "../../market.ts";
import type { Clients } from "../clients.ts";
import type { Plan, Step } from "../plan/plan.ts";
import { runPlan } from "./run.ts";

const account = "0x00000000000000000000000000000000000000aa";
const free = { costs: { wei: "0", currency: account, gasWei: "0" }, paysGas: false } as const;

/** A purchase; `done`: it is mined, and the order book has not seen it. */
function purchase(askId: string, state: "done" | "waiting"): Step[] {
  const bought = { name: "buy", askId, contract: account, tokenId: "1", quantity: "1" } as const;
  const transaction = { to: account, data: "0x", valueWei: "1", nonce: 0 } as const;
  const mined = { transaction: { ...transaction, sinceBlock: "1", hash: "0x", minedIn: "2" } };
  const action = { ...bought, priceWei: "1", currency: account } as const;
  const of = `send-${askId}`;
  const base = { ...free, description: "" };
  return [
    { ...base, id: of, kind: "send", action, state, ...(state === "done" ? mined : {}) },
    { ...base, id: `confirm-${askId}`, kind: "confirm", of, state },
    {
      ...{ ...base, id: `sync-${askId}`, kind: "sync", of, state: "waiting", statuses: [] },
      orders: [{ side: "ask", id: askId }],
    },
  ] as Step[];
}

/** Runs purchases against an API that answers by path, and says how the steps end. */
async function run(steps: Step[], answers: Record<string, () => Response>) {
  const fetch = async (url: unknown): Promise<Response> => {
    const [, answer] = Object.entries(answers).find(([path]) => `${url}`.includes(path)) ?? [];
    return answer?.() ?? Response.json({ data: { status: "filled", checkedAtBlock: 2 } });
  };
  const api = market({
    url: "http://api.test",
    chainId: 33139,
    fetch: fetch as typeof globalThis.fetch,
  });
  const chain = { getChainId: async () => 33139 };
  const clients = {
    api,
    walletClient: chain,
    publicClient: chain,
    account: { address: account },
    maker: account,
  };
  const head = { version: 1, verb: "buy", chainId: 33139, account, maker: account } as const;
  const plan: Plan = { ...head, refused: [], steps };
  const end = await runPlan(clients as unknown as Clients, plan, {});
  return end.steps.map(({ id, state, error }) =>
    [id, state, ...(error ? [error.code] : [])].join(" "),
  );
}

const refuse = (status: number, code: string) => () =>
  Response.json({ code, message: code }, { status, headers: { "retry-after": "60" } });

it("what is bought is bought, although the order book cannot be asked to see it", async () => {
  const steps = [...purchase("a", "done"), ...purchase("b", "done")];
  expect(await run(steps, { "/asks/a/sync": refuse(429, "rate_limited") })).toEqual([
    ...["send-a done", "confirm-a done", "sync-a failed rate_limited"],
    ...["send-b done", "confirm-b done", "sync-b done"],
  ]);
  const one = await run(purchase("a", "done"), { "/sync": refuse(503, "database_unavailable") });
  expect(one.at(-1)).toBe("sync-a failed database_unavailable");
});

it("an API that refuses everything ends a sweep, and what was bought before is returned", async () => {
  const steps = [
    ...purchase("a", "done"),
    ...purchase("b", "waiting"),
    ...purchase("c", "waiting"),
  ];
  expect(await run(steps, { "/buy-data": refuse(429, "rate_limited") })).toEqual([
    ...["send-a done", "confirm-a done", "sync-a done"],
    ...["send-b failed rate_limited", "confirm-b waiting", "sync-b waiting"],
    ...["send-c waiting", "confirm-c waiting", "sync-c waiting"],
  ]);
  const none = run(steps.slice(3), { "/buy-data": refuse(429, "rate_limited") });
  await expect(none).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 60_000 });
});

it("a partner that is away hinders only its own listing", async () => {
  const steps = [...purchase("b", "waiting"), ...purchase("a", "done")];
  const answers = { "/buy-data": refuse(502, "upstream_error") };
  expect((await run(steps, answers)).filter((step) => step.includes("-a"))).toEqual([
    ...["send-a done", "confirm-a done", "sync-a done"],
  ]);
});

it("a listing that is gone fails alone; when all are, that is thrown", async () => {
  const gone = refuse(409, "unavailable");
  const steps = [...purchase("b", "waiting"), ...purchase("a", "done")];
  expect(await run(steps, { "/buy-data": gone })).toEqual([
    ...["send-b failed unavailable", "confirm-b waiting", "sync-b waiting"],
    ...["send-a done", "confirm-a done", "sync-a done"],
  ]);
  const none = run([...purchase("b", "waiting"), ...purchase("c", "waiting")], {
    "/buy-data": gone,
  });
  await expect(none).rejects.toMatchObject({ code: "unavailable" });
});
