import { keccak256 } from "viem";
import { expect, it } from "vitest";
import type { ConfirmStep, Plan, SendStep } from "../../plan/plan.ts";
import type { Run } from "../context.ts";
import { runConfirm } from "./confirm.ts";

const to = "0x00000000000000000000000000000000000000bb";
const newest = { to, data: "0x02", valueWei: "0", nonce: 0, sinceBlock: "0", hash: "0xnew" };

/** A run whose transaction was replaced by one with these data, which was mined. */
function replacedBy(input: string) {
  const send = {
    id: "0",
    kind: "send",
    action: { name: "buy" },
    transaction: { ...newest, olderData: [keccak256("0x01")] },
  };
  const confirm = { id: "1", kind: "confirm", of: "0" };
  type Waiting = { onReplaced(by: object): void };
  const waitForTransactionReceipt = async ({ onReplaced }: Waiting) => {
    onReplaced({ reason: "replaced", transaction: { to, input } });
    return { transactionHash: "0xold", blockNumber: 7n, status: "success" };
  };
  const plan = { steps: [send, confirm] } as unknown as Plan;
  const store = async (change: () => void) => change();
  const run = { plan, options: {}, publicClient: { waitForTransactionReceipt }, store };
  return {
    run: run as unknown as Run,
    step: confirm as ConfirmStep,
    send: send as unknown as SendStep,
  };
}

it("an older form of the transaction that was mined in its place is the step's own", async () => {
  const { run, step, send } = replacedBy("0x01");
  expect(await runConfirm(run, step)).toBe("done");
  expect(send.transaction).toMatchObject({ hash: "0xold", minedIn: "7" });
});

it("another transaction that was mined in its place is not", async () => {
  const { run, step, send } = replacedBy("0x03");
  await expect(runConfirm(run, step)).rejects.toMatchObject({ code: "replaced" });
  expect(send).toMatchObject({ state: "waiting" });
  expect(send.transaction).toBeUndefined();
});

it("who leaves does not wait until it is mined", async () => {
  const { run, step, send } = replacedBy("0x01");
  const leaving = new AbortController();
  const publicClient = { waitForTransactionReceipt: () => new Promise(() => undefined) };
  const waiting = { ...run, publicClient, options: { signal: leaving.signal } } as unknown as Run;
  const ended = runConfirm(waiting, step);
  leaving.abort(new Error("left"));
  await expect(ended).rejects.toThrow("left");
  expect(send.transaction).toMatchObject({ hash: "0xnew" });
});
