import { type Address, bytesToHex, type Hex, numberToHex, type WalletClient } from "viem";
import type { ChainId } from "../../chains.ts";
import { wait } from "../../reading/wait.ts";
import { callOfFixed, isFixed } from "../plan/fixed-call.ts";
import {
  type Batch,
  type Call,
  isEnded,
  type Plan,
  type SendingStep,
  type Step,
} from "../plan/plan.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { defaultMineTimeoutMs } from "./find-mined.ts";
import { hasCode, isRefusal } from "./revert.ts";
import { callOfSend } from "./steps/send.ts";
import { simulate } from "./transaction.ts";

const isSending = (step: Step): step is SendingStep => isFixed(step) || step.kind === "send";

/** What a wallet can take with the first step that is not done: all up to the next signature, one of them a trade. */
export function stepsTogether({ steps }: Plan, from = 0): SendingStep[] {
  const together: SendingStep[] = [];
  for (const step of steps.slice(from)) {
    if (isEnded(step) || step.kind === "confirm") continue;
    if (!isSending(step) || step.transaction !== undefined) break;
    if (step.kind !== "approve" || !step.isApproved) together.push(step);
    if (step.kind === "send") break;
  }
  return together;
}

/** Whether the wallet carries out several calls of the account wholly or not at all, as it is (EIP-5792). */
export async function canSendTogether(
  walletClient: WalletClient,
  account: Address,
  chainId: ChainId,
): Promise<boolean> {
  const chain = numberToHex(chainId);
  try {
    const capabilities: Capabilities = await request(walletClient, "wallet_getCapabilities", [
      account,
      [chain],
    ]);
    return capabilities[chain]?.atomic?.status === "supported";
  } catch {
    return false;
  }
}

type Capabilities = Readonly<Record<Hex, { readonly atomic?: { readonly status?: string } }>>;

const request = <Result>(
  walletClient: WalletClient,
  method: string,
  params: readonly unknown[],
): Promise<Result> => walletClient.request({ method, params } as never) as Promise<Result>;

/**
 * Sends the step and those after it as one transaction, where the wallet can; whether it did, now or before. The id is
 * ours and stored before the calls leave, so that a run that does not know asks the wallet for what became of them.
 */
export async function sendTogether(run: Run, step: SendingStep): Promise<boolean> {
  const { plan, store } = run;
  const begun = step.batch;
  if (begun !== undefined && (await isKnown(run, begun))) return true;
  const steps =
    begun === undefined ? stepsTogether(plan, plan.steps.indexOf(step)) : stepsOf(plan, begun);
  if (begun === undefined && !(await isOffered(run, steps))) return false;
  const calls: Call[] = [];
  for (const one of steps) calls.push(isFixed(one) ? callOfFixed(one) : await callOfSend(run, one));
  const [first] = calls;
  // The others need what it does.
  if (first !== undefined) await simulate(run, first);
  run.options.signal?.throwIfAborted();
  const batch = begun ?? { id: bytesToHex(crypto.getRandomValues(new Uint8Array(32))) };
  await store(() => setBatch(steps, batch));
  await send(run, steps, batch, calls);
  return true;
}

/** A key of our own signs single transactions. */
const isOffered = async ({ walletClient, account, plan }: Run, steps: readonly SendingStep[]) =>
  steps.length > 1 &&
  account.type === "json-rpc" &&
  (await canSendTogether(walletClient, account.address, plan.chainId));

const stepsOf = ({ steps }: Plan, { id }: Batch): SendingStep[] =>
  steps.filter(isSending).filter(({ batch }) => batch?.id === id);

function setBatch(steps: readonly SendingStep[], batch: Batch | undefined): void {
  for (const step of steps)
    if (batch === undefined) delete step.batch;
    else step.batch = batch;
}

const duplicateId = 5720;
const unknownId = 5730;

async function send(
  { walletClient, plan, store }: Run,
  steps: readonly SendingStep[],
  { id }: Batch,
  calls: readonly Call[],
): Promise<void> {
  const sent = calls.map(({ to, data, valueWei }) => ({ to, data, value: numberToHex(valueWei) }));
  const head = { version: "2.0.0", id, chainId: numberToHex(plan.chainId), from: plan.account };
  try {
    await request(walletClient, "wallet_sendCalls", [
      { ...head, atomicRequired: true, calls: sent },
    ]);
  } catch (error) {
    if (hasCode(error, duplicateId)) return;
    if (!isRefusal(error)) throw error;
    await store(() => setBatch(steps, undefined));
    const message = "The transactions were refused in the wallet: the plan can be run again";
    throw new WalletError("refused", message, { cause: error });
  }
}

type CallsStatus = {
  readonly status: number;
  readonly receipts?: readonly { readonly transactionHash: Hex; readonly blockNumber: Hex }[];
};

const statusOf = ({ walletClient }: Run, { id }: Batch): Promise<CallsStatus> =>
  request(walletClient, "wallet_getCallsStatus", [id]);

/** A wallet that was never asked does not know the id. */
async function isKnown(run: Run, batch: Batch): Promise<boolean> {
  try {
    await statusOf(run, batch);
    return true;
  } catch (error) {
    if (hasCode(error, unknownId)) return false;
    throw error;
  }
}

/** Waits until the calls are mined; the batch with its transaction. Failed ones are made anew by the next run. */
export async function confirmBatch(run: Run, batch: Batch): Promise<Batch> {
  if (batch.hash !== undefined) return batch;
  const { plan, options, store, publicClient } = run;
  const steps = stepsOf(plan, batch);
  const deadline = Date.now() + (options.mineTimeoutMs ?? defaultMineTimeoutMs);
  const signal = options.signal ?? new AbortController().signal;
  let found = await statusOf(run, batch);
  while (found.status < 200) {
    if (Date.now() > deadline)
      throw new WalletError("not_mined", "The transaction is pending: run the plan again later");
    await wait(publicClient.pollingInterval, signal);
    found = await statusOf(run, batch);
  }
  const receipt = found.receipts?.at(-1);
  if (found.status >= 300 || receipt === undefined) {
    await store(() => {
      setBatch(steps, undefined);
      for (const step of steps) step.state = "waiting";
    });
    const message = "The wallet's transaction failed, and nothing of it was done";
    throw new WalletError("reverted", message);
  }
  const mined = {
    ...batch,
    hash: receipt.transactionHash,
    minedIn: `${BigInt(receipt.blockNumber)}`,
  };
  await store(() => setBatch(steps, mined));
  return mined;
}
