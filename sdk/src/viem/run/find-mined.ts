import { type Address, type Hex, keccak256 } from "viem";
import { isSame } from "../exchange.ts";
import type { Transaction } from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { poll } from "./poll.ts";

/**
 * What became of a transaction that may have been sent: its hash, once it is mined; `foreign`: its nonce was used for
 * another one; `free`: it was not sent. Wallets may choose a nonce of their own, so that later ones are looked at too.
 */
export async function findMined(
  run: Run,
  transaction: Transaction,
): Promise<Hex | "foreign" | "free"> {
  const { publicClient, account } = run;
  const { nonce } = transaction;
  const { address } = account;
  const sent = await publicClient.getTransactionCount({ address, blockTag: "pending" });
  if (sent <= nonce) return "free";
  await untilMined(run, sent);
  for (let used = nonce; used < sent; used += 1) {
    const mined = await untilFound(run, used, BigInt(transaction.sinceBlock));
    if (isFormOf(transaction, mined)) return mined.hash;
  }
  return "foreign";
}

type Mined = { readonly to: Address | null; readonly input: Hex };

/** Whether it is the transaction, or an older form of it with other data. */
export function isFormOf({ to, data, olderData = [] }: Transaction, mined: Mined): boolean {
  if (mined.to === null || !isSame(mined.to, to)) return false;
  return isSame(mined.input, data) || olderData.includes(keccak256(mined.input));
}

/** Until as many transactions of the account are mined; which they are cannot be known before. */
function untilMined(run: Run, count: number): Promise<true> {
  const { publicClient, account } = run;
  const read = async () => {
    const mined = await publicClient.getTransactionCount({ address: account.address });
    return mined >= count || undefined;
  };
  return poll(run, read, () => stillPending(run));
}

/** A node may count a transaction before it has its block: what is not found yet is not another one. */
const untilFound = (run: Run, nonce: number, sinceBlock: bigint) =>
  poll(
    run,
    () => minedWith(run, nonce, sinceBlock),
    () => stillPending(run),
  );

const stillPending = ({ account }: Run) =>
  new WalletError(
    "not_mined",
    `A transaction of ${account.address} is pending: run the plan again later`,
  );

/** The account's transaction with that nonce, by bisection of the blocks since then. */
async function minedWith({ publicClient, account }: Run, nonce: number, sinceBlock: bigint) {
  const { address } = account;
  let low = sinceBlock;
  let high = await publicClient.getBlockNumber({ cacheTime: 0 });
  while (low < high) {
    const blockNumber = (low + high) / 2n;
    const count = await publicClient.getTransactionCount({ address, blockNumber });
    if (count > nonce) high = blockNumber;
    else low = blockNumber + 1n;
  }
  const { transactions } = await publicClient.getBlock({
    blockNumber: low,
    includeTransactions: true,
  });
  return transactions.find((one) => isSame(one.from, address) && one.nonce === nonce);
}
