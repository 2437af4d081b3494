import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../../projections/database.ts";
import {
  type MovedPlace,
  readCheapestOfContracts,
  readContractSigned,
  readRefusable,
  type SignedPlace,
} from "../../../projections/reads/orders/read-unannounced.ts";
import type { ChainClient } from "../chain/clients.ts";
import { fetchReadBasis } from "../chain/contract-calls.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { askAgain, type Unannounced } from "./ask-again.ts";
import { openWalk, type Walk } from "./open-walk.ts";
import { pause, restAfterFailures } from "./rest-after-failures.ts";

/** Contracts are asked once in so long at most. */
const roundMs = 1_000;
/** Between two looks for a new block: each is a request to the node. While nothing is listed the longer one. */
const lookMs = { watching: 500, idle: 1_000 };

/** Orders that each walk asks about in a round at most. */
const ordersAtOnce = { signed: 100, refusable: 50, cheapest: 50 };

type Work = {
  db: Database;
  client: ChainClient;
  limits?: typeof ordersAtOnce;
  logger: Logger;
  signal: AbortSignal;
};

type Watch = {
  head: Hex | null;
  /** Whether the last block found nothing to ask about. */
  isIdle: boolean;
  walks: readonly (Walk & { kind: Unannounced })[];
};

/**
 * With each new block asks anew what contracts change without an event: whether those that sign stand by their
 * signatures, and whether NFT contracts let the conduit move what is listed. A round is bounded and what it leaves the
 * next one takes: the more orders there are, the less often each is asked about, the one asked longest ago first.
 */
export async function keepWatch(work: Work): Promise<void> {
  const { client, logger, signal } = work;
  const watch: Watch = { head: null, isIdle: true, walks: openWalks(work) };
  let failures = 0;
  while (!signal.aborted) {
    try {
      await pass(work, watch);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      watch.head = null;
      const words = "contracts are not asked again, trying later";
      if (error instanceof RpcFailure) logger.warn(`${words}: ${error.message}`);
      else logger.error({ err: error, chainId: client.chainId }, words);
      await restAfterFailures(failures, signal);
    }
  }
}

async function pass(work: Work, watch: Watch): Promise<void> {
  const { db, client, logger, signal } = work;
  const startedAt = Date.now();
  const { hash } = await fetchReadBasis(client);
  const isNew = hash !== watch.head;
  if (isNew) begin(watch);
  watch.head = hash;
  const asked = await Promise.all(
    watch.walks.map(async (walk) => ({ kind: walk.kind, orders: await walk.next() })),
  );
  const news = await askAgain(db, client, asked, new Date());
  if (news > 0) {
    logger.info(`chain ${client.chainId}: ${news} answers of contracts about orders were news`);
    // A contract that has changed its mind about one order may have about others.
    begin(watch);
  }
  const hasAsked = asked.some(({ orders }) => orders.length > 0);
  if (isNew) watch.isIdle = !hasAsked;
  const lookAgainMs = watch.isIdle ? lookMs.idle : lookMs.watching;
  const restMs = startedAt + (hasAsked ? roundMs : lookAgainMs) - Date.now();
  await pause(Math.max(0, restMs), signal);
}

function begin({ walks }: Watch): void {
  for (const walk of walks) walk.begin();
}

function openWalks({ db, client: { chainId }, limits = ordersAtOnce }: Work): Watch["walks"] {
  const signed = (after: SignedPlace | null, limit: number) =>
    readContractSigned(db, chainId, after, limit);
  const refusable = (after: MovedPlace | null, limit: number) =>
    readRefusable(db, chainId, after, limit);
  const cheapest = (after: MovedPlace | null, limit: number) =>
    readCheapestOfContracts(db, chainId, after, limit);
  return [
    { kind: "signature_read", ...openWalk(signed, limits.signed) },
    { kind: "transfer_read", ...openWalk(refusable, limits.refusable) },
    { kind: "transfer_read", ...openWalk(cheapest, limits.cheapest) },
  ];
}
