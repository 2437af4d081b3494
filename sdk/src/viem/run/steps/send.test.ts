import { expect, it } from "vitest";
import type { SendStep } from "../../plan/plan.ts";
import type { Run } from "../context.ts";
import { runSend } from "./send.ts";

/** What the API is asked for to carry out an action. */
async function requestOf(action: object): Promise<Record<string, unknown>> {
  const requests: Record<string, unknown>[] = [];
  const post = (_: string, request: Record<string, unknown>) => {
    requests.push(request);
    return Promise.reject(new Error("enough"));
  };
  const own = { account: { address: "0xaa" }, maker: "0xaa" };
  const run = { ...own, api: { post }, plan: { account: "0xaa" }, options: {} } as unknown as Run;
  const step = { kind: "send", action } as unknown as SendStep;
  await expect(runSend(run, step)).rejects.toThrow("enough");
  return requests[0] ?? {};
}

it("units are named exactly; more than a number holds can only be all that are left", async () => {
  for (const name of ["buy", "accept"]) {
    expect(await requestOf({ name, quantity: "3" })).toMatchObject({ amount: 3 });
    expect(await requestOf({ name, quantity: `${2n ** 60n}` })).not.toHaveProperty("amount");
  }
});
