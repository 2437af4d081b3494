import {
  type Hex,
  slice,
  type TransactionReceipt,
  WaitForTransactionReceiptTimeoutError,
} from "viem";
import { abortable } from "../../../reading/wait.ts";
import { exchange, isSame } from "../../exchange.ts";
import { isFixed } from "../../plan/fixed-call.ts";
import { type ConfirmStep, type SendStep, stepOf, type Transaction } from "../../plan/plan.ts";
import { WalletError, wrongArgument } from "../../wallet-error.ts";
import { confirmBatch } from "../confirm-batch.ts";
import type { Run } from "../context.ts";
import { findMined, isFormOf } from "../find-mined.ts";
import { defaultMineTimeoutMs } from "../poll.ts";
import { revertOf } from "../revert.ts";

/** Waits until the transaction of the step before is mined. */
export async function runConfirm(run: Run, step: ConfirmStep): Promise<"done" | "skipped"> {
  const sent = stepOf(run.plan, step.of);
  if (!isFixed(sent) && sent.kind !== "send") throw wrongArgument(`${step.of} sends nothing`);
  if (sent.batch !== undefined) {
    const { hash = "0x" } = await confirmBatch(run, sent.batch);
    if (sent.kind === "send") await storeBought(run, sent, hash);
    return "done";
  }
  const { transaction } = sent;
  if (transaction?.hash === undefined) return "skipped";
  /** It did nothing: the next run makes it anew. */
  const forget = () =>
    run.store(() => {
      delete sent.transaction;
      sent.state = "waiting";
    });
  const receipt = await waitForReceipt(run, transaction);
  if (receipt === "replaced") {
    await forget();
    const message = "The transaction was replaced by another one: the plan can be run again";
    throw new WalletError("replaced", message);
  }
  const { transactionHash: hash, blockNumber, status } = receipt;
  if (transaction.minedIn === undefined)
    await run.store(() => {
      sent.transaction = { ...transaction, hash, minedIn: `${blockNumber}` };
    });
  if (status === "success") {
    if (sent.kind === "send") await storeBought(run, sent, receipt);
    return "done";
  }
  const error = await reasonOf(run, transaction, blockNumber);
  await forget();
  throw error;
}

/** `OrderFulfilled(bytes32,address,address,address,…)`; its data begin with the order's hash. */
const orderFulfilled = "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31";

async function storeBought(run: Run, sent: SendStep, of: TransactionReceipt | Hex): Promise<void> {
  if (sent.action.name !== "sweep") return;
  const receipt =
    typeof of === "string" ? await run.publicClient.getTransactionReceipt({ hash: of }) : of;
  await run.store(() => {
    noteBought(sent, receipt);
  });
}

/** The exchange leaves out what was gone when the transaction was mined. */
function noteBought(sent: SendStep, { logs }: TransactionReceipt): void {
  if (sent.action.name !== "sweep") return;
  const hashes = logs
    .filter(({ address, topics }) => isSame(address, exchange) && topics[0] === orderFulfilled)
    .map(({ data }) => slice(data, 0, 32).toLowerCase());
  const ids = sent.action.items.map(({ askId }) => askId);
  sent.bought = ids.filter((id) => hashes.some((hash) => id.toLowerCase().endsWith(hash)));
  const known = [...sent.bought, ...(sent.missed ?? []).map(({ askId }) => askId)];
  const message = "Others were faster, or it was cancelled";
  const late = ids
    .filter((id) => !known.includes(id))
    .map((askId) => ({ askId, code: "not_filled", message }));
  sent.missed = [...(sent.missed ?? []), ...late];
}

/** A transaction that was only sent anew, with another gas price or made anew, counts as the same. */
async function waitForReceipt(
  run: Run,
  transaction: Transaction,
): Promise<TransactionReceipt | "replaced"> {
  const { publicClient, options } = run;
  const { mineTimeoutMs: timeout = defaultMineTimeoutMs } = options;
  let isOther = false;
  try {
    const mining = publicClient.waitForTransactionReceipt({
      hash: transaction.hash ?? "0x",
      timeout,
      onReplaced: ({ reason, transaction: mined }) => {
        isOther = reason !== "repriced" && !isFormOf(transaction, mined);
      },
    });
    const receipt = await abortable(mining, options.signal);
    return isOther ? "replaced" : receipt;
  } catch (error) {
    if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error;
    const found = await findMined(run, transaction);
    if (found === "foreign") return "replaced";
    if (found !== "free") return publicClient.getTransactionReceipt({ hash: found });
    const message = `${transaction.hash} is not mined after ${timeout} ms: run the plan again later`;
    throw new WalletError("not_mined", message, { cause: error });
  }
}

/** Why it failed, by the state of its block. */
async function reasonOf(
  { publicClient, account }: Run,
  { to, data, valueWei }: Transaction,
  blockNumber: bigint,
): Promise<unknown> {
  try {
    const call = { account: account.address, to, data, value: BigInt(valueWei) };
    await publicClient.call({ ...call, blockNumber });
  } catch (error) {
    return revertOf(error);
  }
  return new WalletError("reverted", "The transaction was mined and failed: run the plan again");
}
