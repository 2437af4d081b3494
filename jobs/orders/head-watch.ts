import type { Logger } from "pino";
import type { Hex } from "viem";
import type { ChainClient } from "../chain/client.ts";
import { fetchReadBasis, type ReadBasis } from "../chain/contract-calls.ts";
import { backOff } from "../runner/back-off.ts";
import { createSignal, type Signal } from "../runner/signals.ts";
import { openWebSocket } from "../web-socket.ts";

/** A chain's newest block, for all jobs that follow it. */
export type HeadWatch = {
  /** Jobs share a request: all until another block is announced, else those at about the same time. Throws `RpcFailure`. */
  latest(): Promise<ReadBasis>;
  /**
   * For one job: a wait until the chain may have another block, the job's own signal is notified, or the watch's is
   * aborted.
   */
  openWait(job?: Signal): (pace?: { isIdle?: boolean; atMostMs?: number }) => Promise<void>;
};

/** Time between two requests: without a websocket, where no order depends on them, and with one, in case it is silent. */
const pollMs = { polled: 400, idle: 1_000, announced: 4_000 };
/**
 * Age up to which an answer is shared: in general, and of the block that was announced last. Less than the times between
 * polls, so that nobody waits for two of them.
 */
const sharedMs = { polled: 200, announced: 3_800 };

type WatchOptions = {
  client: ChainClient;
  /** Announces new blocks; null: they are polled. */
  wsUrl: string | null;
  logger: Logger;
  signal: AbortSignal;
};

export function openHeadWatch({ client, wsUrl, logger, signal }: WatchOptions): HeadWatch {
  const jobs: Signal[] = [];
  let reading: Reading | undefined;
  let announced: Hex | null = null;
  const announce = (hash: Hex | null) => {
    announced = hash;
    reading = undefined;
    for (const job of jobs) job.notify();
  };
  let isAnnounced = false;
  const onOpen = (isOpen: boolean) => {
    isAnnounced = isOpen;
    announced = null;
  };
  if (wsUrl !== null) {
    void subscribe(wsUrl, { announce, onOpen, logger, signal, chainId: client.chainId });
  }
  return {
    latest() {
      const ageMs = performance.now() - (reading?.at ?? 0);
      // A node behind the one that announced a block answers with an older one.
      const isNewest = announced !== null && reading?.hash === announced;
      if (reading === undefined || ageMs > (isNewest ? sharedMs.announced : sharedMs.polled))
        reading = read(client);
      return reading.promise;
    },
    openWait(job = createSignal()) {
      jobs.push(job);
      return async ({ isIdle = false, atMostMs = pollMs.announced } = {}) => {
        const polledMs = isIdle ? pollMs.idle : pollMs.polled;
        const everyMs = isAnnounced ? pollMs.announced : polledMs;
        await job.wait(Math.min(everyMs, atMostMs), signal);
      };
    },
  };
}

/** `hash`: of the block, once it is known. */
type Reading = { promise: Promise<ReadBasis>; at: number; hash: Hex | null };

function read(client: ChainClient): Reading {
  const promise = fetchReadBasis(client);
  const reading: Reading = { promise, at: performance.now(), hash: null };
  promise.then(
    ({ hash }) => {
      reading.hash = hash;
    },
    () => {},
  );
  return reading;
}

type Subscription = {
  chainId: number;
  announce: (hash: Hex | null) => void;
  onOpen: (isOpen: boolean) => void;
  logger: Logger;
  signal: AbortSignal;
};

const subscribeText = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "eth_subscribe",
  params: ["newHeads"],
});

/** Subscribes to new blocks until `signal` is aborted; a lost connection is opened again. */
async function subscribe(url: string, subscription: Subscription): Promise<void> {
  const { chainId, logger, signal } = subscription;
  let failures = 0;
  while (!signal.aborted) {
    const wasOpen = await listen(url, subscription).catch(() => false);
    subscription.onOpen(false);
    if (signal.aborted) return;
    failures = wasOpen ? 1 : failures + 1;
    logger.warn({ chainId }, "websocket of new blocks closed, polling until it opens again");
    await backOff(failures, signal);
  }
}

/** Resolves when the connection has ended, with whether it was open. */
async function listen(url: string, { announce, onOpen, signal }: Subscription): Promise<boolean> {
  const ended = createSignal();
  const socket = await openWebSocket(url, {
    onText: (text) => announce(announcedHash(text)),
    onEnd: () => ended.notify(),
  });
  if ("status" in socket) return false;
  onOpen(true);
  socket.send(subscribeText);
  await ended.wait(2 ** 31 - 1, signal);
  socket.close();
  return true;
}

/** Of the header in a notification; null: another message. */
function announcedHash(text: string): Hex | null {
  return (/"hash"\s*:\s*"(0x[0-9a-f]{64})"/.exec(text)?.[1] ?? null) as Hex | null;
}
