import { type Hex, type Log, TransactionReceiptNotFoundError } from "viem";
import { isSame } from "../exchange.ts";
import type { Batch } from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import { setBatch, statusOf, stepsOf } from "./batch.ts";
import type { Run } from "./context.ts";
import { notSigned } from "./contract-account.ts";
import { poll } from "./poll.ts";

/** What became of a batch: `failed` on the chain, or `dropped` by the wallet. */
type Outcome = { readonly hash: Hex; readonly minedIn: string } | "failed" | "dropped";

/** Waits until the calls are mined; the batch with its transaction. Failed ones are made anew by the next run. */
export async function confirmBatch(run: Run, batch: Batch): Promise<Batch> {
  if (batch.hash !== undefined) return batch;
  const { plan, store } = run;
  const steps = stepsOf(plan, batch);
  const read = () => (batch.taken === "transaction" ? readExecution : readCalls)(run, batch);
  const outcome = await poll(run, read, () => late(batch));
  if (typeof outcome !== "string") {
    const mined = { ...batch, ...outcome };
    await store(() => setBatch(steps, mined));
    return mined;
  }
  await store(() => {
    setBatch(steps, undefined);
    for (const step of steps) step.state = "waiting";
  });
  throw outcome === "failed"
    ? new WalletError("reverted", "The wallet's transaction failed, and nothing of it was done")
    : new WalletError("replaced", dropped);
}

const dropped =
  "The wallet gave the transaction up, as where its owners reject it: nothing of it was done, and the plan can be run again";

const late = ({ ownersSince }: Batch) =>
  ownersSince === undefined
    ? new WalletError("not_mined", "The transaction is pending: run the plan again later")
    : notSigned("The transaction is not carried out by the owners");

/** By the wallet's status of the calls (EIP-5792). */
async function readCalls(run: Run, batch: Batch): Promise<Outcome | undefined> {
  const { status, receipts } = await statusOf(run, batch);
  if (status >= 300) return status < 500 ? "dropped" : "failed";
  const receipt = receipts?.at(-1);
  if (status < 200 || receipt === undefined) return undefined;
  return { hash: receipt.transactionHash, minedIn: `${BigInt(receipt.blockNumber)}` };
}

/**
 * By what the wallet returned as the transaction's hash: a hash, which it may answer for later, or that of a Safe's
 * transaction, which the Safe names on the chain when it is carried out.
 */
async function readExecution(run: Run, batch: Batch): Promise<Outcome | undefined> {
  const { publicClient, account } = run;
  const hash = batch.id as Hex;
  const receipt = await publicClient.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  });
  if (receipt?.status === "reverted") return "failed";
  const logs = receipt?.logs ?? (await logsSince(run, batch));
  const own = logs.filter((log) => isSame(log.address, account.address) && isOf(log, hash));
  if (own.some(({ topics }) => topics[0] === executionFailure)) return "failed";
  const mined = receipt ?? own[0];
  if (!mined?.transactionHash) return undefined;
  return { hash: mined.transactionHash, minedIn: `${mined.blockNumber}` };
}

/** Nodes that refuse so many blocks tell it by the receipt alone. */
const logsSince = (
  { publicClient, account }: Run,
  { ownersSince = "0" }: Batch,
): Promise<readonly Log[]> =>
  publicClient
    .getLogs({ address: account.address, fromBlock: BigInt(ownersSince) })
    .catch(() => []);

/** `ExecutionFailure(bytes32,uint256)` of a Safe, whose transaction is mined all the same. */
const executionFailure = "0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23";

/** Whether the log names the hash of a Safe's transaction: in a topic, or in the data of older ones. */
const isOf = ({ topics, data }: Log, hash: Hex): boolean =>
  [...topics.slice(1), data].some((part) => part?.toLowerCase().startsWith(hash.toLowerCase()));
