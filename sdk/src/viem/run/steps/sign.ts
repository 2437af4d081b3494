import type { Hex } from "viem";
import { checkOrder } from "../../checks/check-order.ts";
import type { TypedData } from "../../clients.ts";
import { domainOf, isSame, type OrderComponents, orderTypes } from "../../exchange.ts";
import { parseComponents } from "../../plan/components.ts";
import type { SignStep } from "../../plan/plan.ts";
import { readCounter } from "../../read-approvals.ts";
import { checked, WalletError } from "../../wallet-error.ts";
import { bulkTypedData, splitBulkSignature } from "../bulk-order.ts";
import type { Run } from "../context.ts";
import { isContractAccount, untilAccepted } from "../contract-account.ts";
import { isRefusal } from "../revert.ts";

/** Signs every order that has no signature yet, after each was checked once more. */
export async function runSign(run: Run, step: SignStep): Promise<"done"> {
  const orders = await checkOrders(run, step);
  const { maker, account } = run.plan;
  const isOwn = isSame(maker, account);
  const isContract = isOwn && (await isContractAccount(run.publicClient, account));
  if (step.bulk === "auto") {
    // One signature cannot serve contracts, which know only what they are asked about.
    const isTree = orders.length > 1 && isOwn && !isContract;
    await run.store(() => {
      step.bulk = isTree ? "tree" : "single";
    });
  }
  const isTree = step.bulk === "tree" && step.signatures.length === 0;
  if (isTree && (await signTree(run, step, orders))) return "done";
  for (const order of orders.slice(step.signatures.length)) {
    const signature = await (isContract ? signByOwners(run, step, order) : signOrder(run, order));
    await run.store(() => {
      step.signatures.push(signature);
      delete step.pending;
    });
  }
  return "done";
}

const signOrder = (run: Run, message: OrderComponents): Promise<Hex> =>
  sign(run, { types: orderTypes, primaryType: "OrderComponents", message });

/** The wallet answers before all owners have signed: with a part of the signature, or with none where it is put on chain. */
async function signByOwners(run: Run, step: SignStep, order: OrderComponents): Promise<Hex> {
  const signature = step.pending ?? (await signOrder(run, order));
  await run.store(() => {
    step.pending = signature;
  });
  try {
    await untilAccepted(run, order, signature);
    return signature;
  } catch (error) {
    // Only the wallet knows the whole of it: the next run asks again, about the same order.
    if (signature !== "0x") delete step.pending;
    throw error;
  }
}

async function checkOrders(run: Run, step: SignStep): Promise<OrderComponents[]> {
  const { chainId, maker } = run.plan;
  const orders = step.orders.map((order) =>
    checked(() => {
      const components = parseComponents(order.components);
      checkOrder(components, { ...order, chainId, maker });
      return components;
    }),
  );
  const counter = await readCounter(run);
  const now = BigInt(Math.floor(Date.now() / 1_000));
  if (orders.some((order) => order.counter !== counter))
    throw new WalletError("stale_plan", "The maker's counter has changed: make a new plan");
  if (orders.some(({ endTime }) => endTime <= now))
    throw new WalletError("stale_plan", "An order of the plan has expired: make a new plan");
  return orders;
}

/** False: the signer cannot sign a tree, as small devices, and is asked for the same orders one by one. */
async function signTree(
  run: Run,
  step: SignStep,
  orders: readonly OrderComponents[],
): Promise<boolean> {
  let signature: Hex;
  try {
    signature = await sign(run, { ...bulkTypedData(orders), primaryType: "BulkOrder" });
  } catch (error) {
    if (error instanceof WalletError) throw error;
    await run.store(() => {
      step.bulk = "single";
    });
    return false;
  }
  await run.store(() => {
    step.signatures = splitBulkSignature(signature, orders);
  });
  return true;
}

async function sign(
  { signTypedData, plan, options }: Run,
  data: Omit<TypedData, "domain">,
): Promise<Hex> {
  options.signal?.throwIfAborted();
  try {
    return await signTypedData({ domain: domainOf(plan.chainId), ...data });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = "The signature was refused in the wallet: the plan can be run again";
    throw new WalletError("refused", message, { cause: error });
  }
}
