import { type Hex, keccak256 } from "viem";
import { isSame } from "../exchange.ts";
import type { Call, Transaction } from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { findMined } from "./find-mined.ts";
import { isRefusal, revertOf } from "./revert.ts";

/** A step that sends one transaction. */
type Sending = { transaction?: Transaction };

/**
 * Sends the step's transaction unless it was sent before. Its nonce is stored before it leaves, so that whatever happens
 * it is mined once at most: a run that does not know whether it was sent finds the one that was mined, or makes it anew
 * with the same nonce, as authorizations in its data expire. An older form of it may still be on its way.
 */
export async function sendOnce(run: Run, step: Sending, make: () => Promise<Call>): Promise<void> {
  const begun = step.transaction;
  if (begun?.hash !== undefined) return;
  const found = begun === undefined ? "foreign" : await findMined(run, begun);
  if (begun !== undefined && found !== "free" && found !== "foreign")
    return run.store(() => {
      step.transaction = { ...begun, hash: found };
    });
  const older = found === "free" ? begun : undefined;
  const call = await make();
  await simulate(run, call);
  const transaction = older === undefined ? await prepare(run, call) : replace(older, call);
  run.options.signal?.throwIfAborted();
  if (transaction !== older)
    await run.store(() => {
      step.transaction = transaction;
    });
  await broadcast(run, step, transaction, older);
}

async function prepare({ publicClient, account }: Run, call: Call): Promise<Transaction> {
  const [nonce, head] = await Promise.all([
    publicClient.getTransactionCount({ address: account.address, blockTag: "pending" }),
    publicClient.getBlockNumber({ cacheTime: 0 }),
  ]);
  const { to, data, valueWei } = call;
  return { to, data, valueWei: `${valueWei}`, nonce, sinceBlock: `${head}` };
}

/** What a transaction sends and to whom are the plan's; its data may differ each time. */
function replace(older: Transaction, { data }: Call): Transaction {
  if (isSame(data, older.data)) return older;
  const hashes = new Set([...(older.olderData ?? []), keccak256(older.data)]);
  hashes.delete(keccak256(data));
  return { ...older, data, olderData: [...hashes] };
}

/** `older`: what may have been sent before with the same nonce. */
async function broadcast(
  run: Run,
  step: Sending,
  transaction: Transaction,
  older: Transaction | undefined,
): Promise<void> {
  const { to, data, valueWei, nonce } = transaction;
  const { walletClient, account } = run;
  let hash: Hex;
  try {
    hash = await walletClient.sendTransaction({
      account,
      chain: walletClient.chain ?? null,
      to,
      data,
      value: BigInt(valueWei),
      nonce,
    });
  } catch (error) {
    if (!isRefusal(error)) throw revertOf(error);
    // Nothing left the wallet now: the next run makes it anew.
    await run.store(() => {
      if (older === undefined) delete step.transaction;
      else step.transaction = older;
    });
    const message = "The transaction was refused in the wallet: the plan can be run again";
    throw new WalletError("refused", message, { cause: error });
  }
  await run.store(() => {
    step.transaction = { ...transaction, hash };
  });
}

export async function simulate(
  { publicClient, account }: Run,
  { to, data, valueWei }: Call,
): Promise<void> {
  try {
    await publicClient.call({ account: account.address, to, data, value: valueWei });
  } catch (error) {
    throw revertOf(error);
  }
}
