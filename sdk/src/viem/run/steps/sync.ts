import { MarketError } from "../../../market-error.ts";
import { wait } from "../../../reading/wait.ts";
import { callOptions } from "../../clients.ts";
import type { OrderRef } from "../../plan/actions.ts";
import { type SyncStep, stepOf } from "../../plan/plan.ts";
import type { Run } from "../context.ts";

/** Between two looks; longer each time, as each is a request of the caller's limit. */
const pausesMs = [1_000, 2_000, 3_000, 4_000];

/** Makes the order book look at the chain, until it has seen the block of the transaction. */
export async function runSync(run: Run, step: SyncStep): Promise<"done"> {
  const sent = stepOf(run.plan, step.of);
  const transaction = sent.kind === "send" ? (sent.batch ?? sent.transaction) : undefined;
  const minedIn = Number(transaction?.minedIn ?? 0);
  const signal = run.options.signal ?? new AbortController().signal;
  for (const order of step.orders.slice(step.statuses.length)) {
    const look = watchOrder(run, order, transaction?.hash);
    let seen = await look();
    for (const pauseMs of pausesMs) {
      if (seen.block >= minedIn) break;
      await wait(pauseMs, signal);
      seen = await look();
    }
    await run.store(() => {
      step.statuses.push(seen.status);
    });
  }
  return "done";
}

type Seen = { readonly status: string; readonly block: number };

/** Partners' listings are not of the order book, which sees on the chain what became of them: they are read. */
function watchOrder(run: Run, order: OrderRef, txHash: string | undefined): () => Promise<Seen> {
  let isPartners = false;
  return async () => {
    if (isPartners) return readListing(run, order.id);
    try {
      return await requestSync(run, order, txHash);
    } catch (error) {
      isPartners = order.side === "ask" && error instanceof MarketError && error.status === 404;
      if (!isPartners) throw error;
      return readListing(run, order.id);
    }
  };
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
