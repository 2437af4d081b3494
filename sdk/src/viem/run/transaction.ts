import type { Hex } from "viem";
import type { Call, Transaction } from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { findMined } from "./find-mined.ts";
import { isRefusal, revertOf } from "./revert.ts";

/** A step that sends one transaction. */
type Sending = { transaction?: Transaction };

/**
 * Sends the step's transaction unless it was sent before. Its nonce is stored before it leaves, so that whatever happens
 * it is mined once at most: a run that does not know whether it was sent sends it again with the same nonce, or finds the
 * one that was mined.
 */
export async function sendOnce(run: Run, step: Sending, make: () => Promise<Call>): Promise<void> {
  const begun = step.transaction;
  if (begun?.hash !== undefined) return;
  if (begun !== undefined) {
    const found = await findMined(run, begun);
    if (found === "free") return broadcast(run, step, begun);
    if (found !== "foreign")
      return run.store(() => {
        step.transaction = { ...begun, hash: found };
      });
  }
  const call = await make();
  await simulate(run, call);
  const { reads, account } = run;
  const [nonce, head] = await Promise.all([
    reads.getTransactionCount({ address: account.address, blockTag: "pending" }),
    reads.getBlockNumber({ cacheTime: 0 }),
  ]);
  const { to, data, valueWei } = call;
  const transaction = { to, data, valueWei: `${valueWei}`, nonce, sinceBlock: `${head}` };
  await run.store(() => {
    step.transaction = transaction;
  });
  await broadcast(run, step, transaction);
}

async function broadcast(run: Run, step: Sending, transaction: Transaction): Promise<void> {
  const { to, data, valueWei, nonce } = transaction;
  const { wallet, account } = run;
  let hash: Hex;
  try {
    hash = await wallet.sendTransaction({
      account,
      chain: wallet.chain ?? null,
      to,
      data,
      value: BigInt(valueWei),
      nonce,
    });
  } catch (error) {
    if (!isRefusal(error)) throw revertOf(error);
    // Nothing left the wallet: the next run begins this step anew.
    await run.store(() => {
      delete step.transaction;
    });
    const message = "The transaction was refused in the wallet: the plan can be run again";
    throw new WalletError("refused", message, { cause: error });
  }
  await run.store(() => {
    step.transaction = { ...transaction, hash };
  });
}

async function simulate({ reads, account }: Run, { to, data, valueWei }: Call): Promise<void> {
  try {
    await reads.call({ account: account.address, to, data, value: valueWei });
  } catch (error) {
    throw revertOf(error);
  }
}
