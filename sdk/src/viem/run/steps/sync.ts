import { MarketError } from "../../../market-error.ts";
import { wait } from "../../../reading/wait.ts";
import { callOptions } from "../../clients.ts";
import type { OrderRef } from "../../plan/actions.ts";
import { type SyncStep, stepOf } from "../../plan/plan.ts";
import type { Run } from "../context.ts";

const tries = 10;
const pauseMs = 1_000;

/** Makes the order book look at the chain, until it has seen the block of the transaction. */
export async function runSync(run: Run, step: SyncStep): Promise<"done"> {
  const sent = stepOf(run.plan, step.of);
  const transaction = sent.kind === "send" ? sent.transaction : undefined;
  const minedIn = Number(transaction?.minedIn ?? 0);
  const signal = run.options.signal ?? new AbortController().signal;
  for (const order of step.orders.slice(step.statuses.length)) {
    let seen = await syncOrder(run, order, transaction?.hash);
    for (let left = tries; seen.block < minedIn && left > 0; left -= 1) {
      await wait(pauseMs, signal);
      seen = await syncOrder(run, order, transaction?.hash);
    }
    await run.store(() => {
      step.statuses.push(seen.status);
    });
  }
  return "done";
}

type Seen = { readonly status: string; readonly block: number };

async function syncOrder(run: Run, order: OrderRef, txHash: string | undefined): Promise<Seen> {
  try {
    return await requestSync(run, order, txHash);
  } catch (error) {
    // Partners' listings are not of the order book, which sees on the chain what became of them.
    const isPartners = order.side === "ask" && error instanceof MarketError && error.status === 404;
    if (!isPartners) throw error;
    return readListing(run, order.id);
  }
}

async function readListing({ api, options }: Run, askId: string): Promise<Seen> {
  const { data } = await api.get("/v1/listings/{askId}", { askId }, callOptions(options));
  const isSeen = data.status !== "active";
  return { status: data.status, block: isSeen ? Number.POSITIVE_INFINITY : -1 };
}

async function requestSync(
  { api, options }: Run,
  { side, id }: OrderRef,
  txHash: string | undefined,
): Promise<Seen> {
  const body = txHash === undefined ? {} : { txHash };
  const { data } =
    side === "ask"
      ? await api.post("/v1/orders/asks/{askId}/sync", { askId: id, ...body }, callOptions(options))
      : await api.post(
          "/v1/orders/bids/{bidId}/sync",
          { bidId: id, ...body },
          callOptions(options),
        );
  return { status: data.status, block: data.checkedAtBlock };
}
