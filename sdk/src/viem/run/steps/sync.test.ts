import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MarketError } from "../../../market-error.ts";
import type { Plan, SyncStep } from "../../plan/plan.ts";
import type { Run } from "../context.ts";
import { runSync } from "./sync.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const notOurs = new MarketError({ status: 404, code: "not_found", message: "No listing" });

/** A sync of a purchase in block 7; the requests it makes. */
async function sync(answers: { post: () => object; get?: () => object }): Promise<string[]> {
  const requests: string[] = [];
  const answer = (method: "get" | "post") => async () => {
    requests.push(method);
    return { data: answers[method]?.() };
  };
  const send = { id: "0", kind: "send", transaction: { hash: "0x", minedIn: "7" } };
  const step = { id: "1", kind: "sync", of: "0", statuses: [], orders: [{ side: "ask", id: "a" }] };
  const run = {
    ...{ api: { get: answer("get"), post: answer("post") }, options: {} },
    plan: { steps: [send, step] } as unknown as Plan,
    store: async (change: () => void) => change(),
  };
  const ended = runSync(run as unknown as Run, step as unknown as SyncStep);
  await vi.advanceTimersByTimeAsync(60_000);
  await ended;
  return requests;
}

it("a partner's listing is synced once at most, and read until it is no longer active", async () => {
  let reads = 0;
  const requests = await sync({
    post: () => {
      throw notOurs;
    },
    get: () => {
      reads += 1;
      return { status: reads < 3 ? "active" : "filled" };
    },
  });
  expect(requests).toEqual(["post", "get", "get", "get"]);
});

it("an order that stays as it is takes few requests", async () => {
  const post = () => ({ status: "active", checkedAtBlock: 6 });
  expect(await sync({ post })).toHaveLength(5);
});
