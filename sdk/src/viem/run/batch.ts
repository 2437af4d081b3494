import { type Address, bytesToHex, type Hex, numberToHex, type WalletClient } from "viem";
import type { ChainId } from "../../chains.ts";
import { callOfFixed, isFixed } from "../plan/fixed-call.ts";
import {
  type Batch,
  type Call,
  isEnded,
  type Plan,
  type SendingStep,
  type Step,
} from "../plan/plan.ts";
import { WalletError, wrongArgument } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { isContractAccount } from "./contract-account.ts";
import { hasCode, isRefusal } from "./revert.ts";
import { callOfSend } from "./steps/send-call.ts";
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
 * Sends the step and those after it as one transaction, where the wallet can; whether it did, now or before. A contract
 * account sends all of its own so. The id is ours and stored before the calls leave, so that a run that does not know asks
 * the wallet for what became of them.
 */
export async function sendTogether(run: Run, step: SendingStep): Promise<boolean> {
  const { plan, store } = run;
  const begun = step.batch;
  // With the steps before it.
  if (begun !== undefined && stepsOf(plan, begun)[0] !== step) return true;
  if (begun !== undefined && (await isKnown(run, begun))) return true;
  const asked = begun === undefined ? await newBatch(run, step) : sameBatch(plan, begun);
  if (asked === null) return false;
  const { steps, batch } = asked;
  const calls: Call[] = [];
  for (const one of steps) calls.push(isFixed(one) ? callOfFixed(one) : await callOfSend(run, one));
  const [first] = calls;
  // The others need what it does.
  if (first !== undefined) await simulate(run, first);
  run.options.signal?.throwIfAborted();
  await store(() => setBatch(steps, batch));
  await send(run, asked, calls);
  return true;
}

type BatchRequest = {
  readonly steps: readonly SendingStep[];
  readonly batch: Batch;
  readonly taken: NonNullable<Batch["taken"]>;
};

const sameBatch = (plan: Plan, batch: Batch): BatchRequest => ({
  ...{ steps: stepsOf(plan, batch), batch, taken: "calls" },
});

/** Null: it is sent as a transaction of its own. */
async function newBatch(run: Run, step: SendingStep): Promise<BatchRequest | null> {
  const { walletClient, publicClient, account, plan } = run;
  // A key of our own signs single transactions.
  if (account.type !== "json-rpc") return null;
  const isContract = await isContractAccount(publicClient, account.address);
  const together = stepsTogether(plan, plan.steps.indexOf(step));
  if (together.length < 2 && !isContract) return null;
  const takesCalls = await canSendTogether(walletClient, account.address, plan.chainId);
  if (!takesCalls && !isContract) return null;
  const id = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
  if (!isContract) return { steps: together, batch: { id }, taken: "calls" };
  const batch = { id, ownersSince: `${await publicClient.getBlockNumber({ cacheTime: 0 })}` };
  return takesCalls
    ? { steps: together, batch, taken: "calls" }
    : { steps: [step], batch, taken: "transaction" };
}

export const stepsOf = ({ steps }: Plan, { id }: Batch): SendingStep[] =>
  steps.filter(isSending).filter(({ batch }) => batch?.id === id);

export function setBatch(steps: readonly SendingStep[], batch: Batch | undefined): void {
  for (const step of steps)
    if (batch === undefined) delete step.batch;
    else step.batch = batch;
}

const duplicateId = 5720;
const unknownId = 5730;

async function send(
  run: Run,
  { steps, batch, taken }: BatchRequest,
  calls: readonly Call[],
): Promise<void> {
  const { store } = run;
  try {
    const id = await (taken === "calls" ? askCalls : askTransaction)(run, batch, calls);
    await store(() => setBatch(steps, { ...batch, id, taken }));
  } catch (error) {
    if (hasCode(error, duplicateId)) return;
    if (!isRefusal(error)) throw error;
    await store(() => setBatch(steps, undefined));
    const message = "The transactions were refused in the wallet: the plan can be run again";
    throw new WalletError("refused", message, { cause: error });
  }
}

/** The wallet's id of the calls: ours, or its own, as that of a Safe. */
async function askCalls(
  { walletClient, plan }: Run,
  { id }: Batch,
  calls: readonly Call[],
): Promise<string> {
  const sent = calls.map(({ to, data, valueWei }) => ({ to, data, value: numberToHex(valueWei) }));
  const head = { version: "2.0.0", id, chainId: numberToHex(plan.chainId), from: plan.account };
  const asked = { ...head, atomicRequired: true, calls: sent };
  const answer = await request<{ id?: string } | null>(walletClient, "wallet_sendCalls", [asked]);
  return answer?.id ?? id;
}

/** A contract account has no nonce that a wallet could use. */
async function askTransaction(
  { walletClient, account }: Run,
  _: Batch,
  [call]: readonly Call[],
): Promise<string> {
  if (call === undefined) throw wrongArgument("There is nothing to send");
  const { to, data, valueWei: value } = call;
  const chain = walletClient.chain ?? null;
  return walletClient.sendTransaction({ account, chain, to, data, value });
}

type CallsStatus = {
  readonly status: number;
  readonly receipts?: readonly { readonly transactionHash: Hex; readonly blockNumber: Hex }[];
};

export const statusOf = ({ walletClient }: Run, { id }: Batch): Promise<CallsStatus> =>
  request(walletClient, "wallet_getCallsStatus", [id]);

/** A wallet that was never asked does not know the id; that of a contract account may have given it another one. */
async function isKnown(run: Run, batch: Batch): Promise<boolean> {
  if (batch.taken !== undefined) return true;
  try {
    await statusOf(run, batch);
    return true;
  } catch (error) {
    const cause = { cause: error };
    if (batch.ownersSince !== undefined) throw new WalletError("unanswered", unanswered, cause);
    if (hasCode(error, unknownId)) return false;
    throw error;
  }
}

const unanswered =
  "The wallet was asked, and did not say what became of it: look there, and end it or let it be done before a new plan is made";
