import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { type HeadWatch, openHeadWatch } from "#jobs/orders/head-watch.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

const chainId = 1;

let anvil: Anvil;
let node: RpcProxy;
let chain: DevnetClient;
let ending: AbortController;
beforeAll(async () => {
  anvil = await startAnvil({ chainId });
  node = await startRpcProxy(anvil.rpcUrl);
  chain = connect(anvil);
});
afterAll(async () => {
  await node?.close();
  await anvil?.stop();
});
beforeEach(() => {
  ending = new AbortController();
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  ending.abort();
  vi.useRealTimers();
  node.override = () => undefined;
});

function open(wsUrl: string | null): HeadWatch {
  const client = openChainClient({ chainId, rpcUrls: [node.url] });
  const logger = pino({ level: "silent" });
  return openHeadWatch({ client, wsUrl, logger, signal: ending.signal });
}

/** A watch whose websocket is open, with a function that mines a block and returns it once it is announced. */
async function openAnnounced() {
  const head = open(anvil.wsUrl);
  const wait = head.openWait();
  const mine = async () => {
    await chain.mine({ blocks: 1 });
    const { hash } = await chain.getBlock();
    for (;;) {
      await wait();
      if ((await head.latest()).hash === hash) return hash;
    }
  };
  const look = () => lookFor(head, 0.25);
  do await mine();
  while ((await requestsOf(look)) > 0);
  return { head, mine };
}

async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  const before = node.requests;
  await work();
  return node.requests - before;
}

/** Of a job that looks four times a second, for so long. */
async function lookFor(head: HeadWatch, seconds: number): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let look = 0; look < 4 * seconds; look += 1) {
    vi.advanceTimersByTime(250);
    seen.add((await head.latest()).hash);
  }
  return seen;
}

it("asks once for a block that was announced, however often jobs look", async () => {
  const { head, mine } = await openAnnounced();

  for (let block = 0; block < 5; block += 1) {
    const hash = await mine();
    expect(
      await requestsOf(async () => expect(await lookFor(head, 3)).toEqual(new Set([hash]))),
    ).toBe(0);
  }
});

it("asks again after four seconds, in case the websocket is silent", async () => {
  const { head } = await openAnnounced();

  expect(await requestsOf(() => lookFor(head, 12))).toBe(3);
});

it("asks again where a node answers with an older block than was announced", async () => {
  const { head } = await openAnnounced();
  const older = await chain.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
  node.override = ({ method }) =>
    method === "eth_getBlockByNumber" ? { result: older } : undefined;
  const announced = head.openWait()();
  await chain.mine({ blocks: 1 });
  await announced;

  expect(await requestsOf(() => lookFor(head, 2))).toBe(8);
  node.override = () => undefined;
  const { hash } = await chain.getBlock();

  expect(await lookFor(head, 1)).toEqual(new Set([hash]));
});

it("ends a job's wait at its own signal, without another block", async () => {
  const { head } = await openAnnounced();
  const job = createSignal();
  const wait = head.openWait(job);
  const waited = wait().then(() => "notified");
  const block = chain.getBlockNumber();
  job.notify();

  expect(await waited).toBe("notified");
  expect(await chain.getBlockNumber()).toBe(await block);
});

it("asks at each look without a websocket", async () => {
  const head = open(null);

  expect(await requestsOf(() => lookFor(head, 3))).toBe(12);
});
