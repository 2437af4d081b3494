import { type Hex, pad, TransactionReceiptNotFoundError, toEventSelector } from "viem";
import { expect, it } from "vitest";
import type { Batch, Plan, SendStep } from "../plan/plan.ts";
import { confirmBatch } from "./confirm-batch.ts";
import type { Run } from "./context.ts";

const account = "0x00000000000000000000000000000000000000aa";
const safeHash = pad("0x5afe");
const mined = pad("0x01");
const executed = (event: string, isIndexed = true) => ({
  ...{ address: account, transactionHash: mined, blockNumber: 7n },
  topics: [toEventSelector(event), ...(isIndexed ? [safeHash] : [])],
  data: isIndexed ? pad("0x00") : `${safeHash}${"0".repeat(64)}`,
});
const success = "ExecutionSuccess(bytes32,uint256)";
const failure = "ExecutionFailure(bytes32,uint256)";

type Chain = {
  readonly logs?: readonly object[] | Error;
  /** Of what the wallet returned as the transaction's hash. */
  readonly receipt?: object;
  /** Of the wallet. */
  readonly status?: object;
};

/** What becomes of a batch of a contract account, and how its step is then. */
async function confirm(taken: NonNullable<Batch["taken"]>, { logs = [], receipt, status }: Chain) {
  const batch: Batch = { id: safeHash, taken, ownersSince: "3" };
  const step = { id: "0", kind: "send", state: "done", batch } as unknown as SendStep;
  const publicClient = {
    pollingInterval: 1,
    getTransactionReceipt: async ({ hash }: { hash: Hex }) => {
      if (receipt === undefined) throw new TransactionReceiptNotFoundError({ hash });
      return receipt;
    },
    getLogs: async () => {
      if (logs instanceof Error) throw logs;
      return logs;
    },
  };
  const run = {
    ...{ publicClient, account: { address: account }, options: { mineTimeoutMs: 20 } },
    walletClient: { request: async () => status },
    plan: { steps: [step] } as unknown as Plan,
    store: async (change: () => void) => change(),
  } as unknown as Run;
  const end = await confirmBatch(run, batch).then(
    ({ hash, minedIn }) => ({ hash, minedIn }),
    ({ code }: { code: string }) => code,
  );
  return { end, state: step.state, isForgotten: step.batch === undefined };
}

const done = { end: { hash: mined, minedIn: "7" }, state: "done", isForgotten: false };
const undone = { state: "waiting", isForgotten: true };
const open = { end: "not_signed", state: "done", isForgotten: false };

it("what a Safe names on the chain is mined, in a topic or in the data of older ones", async () => {
  expect(await confirm("transaction", { logs: [executed(success)] })).toEqual(done);
  expect(await confirm("transaction", { logs: [executed(success, false)] })).toEqual(done);
});

it("so is what the wallet has a receipt of", async () => {
  const receipt = { status: "success", transactionHash: mined, blockNumber: 7n, logs: [] };
  expect(await confirm("transaction", { receipt })).toEqual(done);
});

it("what failed within a transaction that is mined was not done", async () => {
  const failed = { ...undone, end: "reverted" };
  const receipt = { status: "success", transactionHash: mined, blockNumber: 7n };
  expect(await confirm("transaction", { logs: [executed(failure)] })).toEqual(failed);
  expect(
    await confirm("transaction", { receipt: { ...receipt, logs: [executed(failure)] } }),
  ).toEqual(failed);
});

it("logs of others and of other transactions tell nothing", async () => {
  const others = [
    { ...executed(success), address: "0x00000000000000000000000000000000000000bb" },
    { ...executed(success), topics: [toEventSelector(success), pad("0x02")] },
  ];
  expect(await confirm("transaction", { logs: others })).toEqual(open);
});

it("a node that refuses logs leaves it open", async () => {
  expect(await confirm("transaction", { logs: new Error("too many blocks") })).toEqual(open);
});

it.each([
  ["is pending", { status: 100 }, open],
  ["is confirmed without its receipt yet", { status: 200, receipts: [] }, open],
  [
    "is confirmed",
    { status: 200, receipts: [{ transactionHash: mined, blockNumber: "0x7" }] },
    done,
  ],
  ["was given up", { status: 400 }, { ...undone, end: "replaced" }],
  ["failed", { status: 500 }, { ...undone, end: "reverted" }],
])("by the wallet's own status it %s", async (_, status, end) => {
  expect(await confirm("calls", { status })).toEqual(end);
});
