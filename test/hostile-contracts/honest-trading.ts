import { setTimeout as delay } from "node:timers/promises";
import { encodeFunctionData, type Hex, parseEther } from "viem";
import { accounts } from "#devnet/accounts.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { collectionAbi } from "#devnet/contracts/abis.ts";
import { addressOf, contracts, creatorOf } from "#devnet/contracts/addresses.ts";
import { create } from "#devnet/deploy.ts";
import { createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { editionIds } from "#devnet/market/seed-tokens.ts";
import { signOrder } from "#devnet/market/signed-orders.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import type { ApiClient } from "#devnet/order-book/api-client.ts";
import { composeListing, presentSigned } from "#devnet/order-book/signing.ts";
import type { Samples } from "./samples.ts";

const chainId = 33139;

/** Where the figures of a request that starts now belong; null: nowhere. */
type Phase = () => Samples | null;

type Options = {
  baseUrl: string;
  rpcUrl: string;
  phase: Phase;
  /** Whether orders and tokens are made just now: what they cost would hide what one trick does. */
  isWriting: () => boolean;
  signal: AbortSignal;
};

const paths = [
  "/v1/listings?chainId=33139&sort=price_asc",
  `/v1/listings?chainId=33139&collection=${contracts.punks}&sort=price_asc`,
  "/v1/bids?chainId=33139",
  "/v1/collections?chainId=33139",
  `/v1/collections/${contracts.punks}/tokens?chainId=33139`,
  `/v1/collections/${contracts.punks}/traits?chainId=33139`,
  "/v1/sales?chainId=33139",
  "/v1/activity?chainId=33139",
  `/v1/orders/params?chainId=33139&contract=${contracts.punks}&tokenId=2`,
];

const readers = 3;
const readPauseMs = 150;
const intakePauseMs = 700;
const blockPauseMs = 500;
const pollMs = 25;
const timeoutMs = 60_000;

/** Reads, lists and mints until aborted. */
export async function tradeHonestly(options: Options): Promise<void> {
  const readersAtWork = Array.from({ length: readers }, (_, place) => readOn(options, place));
  await Promise.all([...readersAtWork, listOn(options), mintOn(options)]);
}

const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => {});

async function untilWriting({ isWriting, signal }: Options): Promise<void> {
  while (!isWriting() && !signal.aborted) await pause(readPauseMs, signal);
}

/** One request; its milliseconds where the answer is good. */
async function timed(
  samples: Samples | null,
  url: string,
  init: RequestInit = {},
): Promise<{ ms: number | null; data: unknown }> {
  const begin = performance.now();
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const { data } = (await response.json()) as { data?: unknown };
    const ms = performance.now() - begin;
    const { status, headers } = response;
    samples?.statuses.set(status, (samples.statuses.get(status) ?? 0) + 1);
    const isRefusal = status === 503 && headers.get("retry-after") !== null;
    if (status >= 500 && !isRefusal) samples?.faults.push(`${status} ${url}`);
    return { ms: response.ok ? ms : null, data };
  } catch (error) {
    samples?.faults.push(`${error} ${url}`);
    return { ms: null, data: null };
  }
}

async function readOn({ baseUrl, phase, signal }: Options, place: number): Promise<void> {
  for (let turn = place; !signal.aborted; turn += 1) {
    const samples = phase();
    const { ms } = await timed(samples, baseUrl + (paths[turn % paths.length] ?? "/"));
    if (ms !== null) samples?.reads.push(ms);
    await pause(readPauseMs, signal);
  }
}

/** Lists editions, each listing cheaper than the one before, which it replaces. */
async function listOn(options: Options): Promise<void> {
  const { baseUrl, rpcUrl, phase, signal } = options;
  const client = connect({ chainId, rpcUrl });
  const random = seededRandom(Date.now());
  const market = { chainId, client, sending: sendAsMined(client), random } as const;
  const actors = createActors(market);
  const { wallet: _, ...people } = actors;
  const makers = Object.values(people);
  const api = { get: async (path: string) => (await timed(null, baseUrl + path)).data };
  const book = { api: api as ApiClient, market, actors };
  for (let turn = 0; !signal.aborted; turn += 1) {
    await untilWriting(options);
    const maker = makers[turn % makers.length];
    if (maker === undefined) return;
    const tokenId = editionIds[Math.floor(turn / makers.length) % editionIds.length] ?? 1n;
    const nft = { standard: "erc1155", contract: contracts.editions, tokenId } as const;
    const priceWei = parseEther("300") - BigInt(turn) * parseEther("0.01");
    // Its parameters may be refused by a service that is busy.
    const composed = await composeListing(book, maker.address, {
      nft,
      priceWei,
      quantity: 1n,
    }).catch(() => null);
    if (composed !== null) {
      const seaport = presentSigned(await signOrder(market, maker, composed));
      const samples = phase();
      const { ms } = await timed(samples, `${baseUrl}/v1/orders/asks`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ chainId, seaport }),
      });
      if (ms !== null) samples?.intake.push(ms);
    }
    await pause(intakePauseMs, signal);
  }
}

/** Mints tokens of a collection of its own, and waits for each to be told. */
async function mintOn(options: Options): Promise<void> {
  const { baseUrl, rpcUrl, phase, signal } = options;
  const client = connect({ chainId, rpcUrl });
  const name = `honest ${Date.now()}`;
  await create(client, name, "Collection", ["Honest", "HNST", accounts.royaltyRecipient]);
  for (let tokenId = 0n; !signal.aborted; tokenId += 1n) {
    await untilWriting(options);
    // The node may have no block for it in time: it answers hostile questions, too.
    const hash = await mint(client, name, tokenId).catch(() => null);
    if (hash === null) continue;
    const samples = phase();
    const begin = performance.now();
    while (!signal.aborted && performance.now() - begin < timeoutMs) {
      const path = `/v1/transactions/${hash}?chainId=${chainId}`;
      const response = await fetch(baseUrl + path).catch(() => null);
      await response?.arrayBuffer().catch(() => {});
      if (response?.ok) break;
      await pause(pollMs, signal);
    }
    if (!signal.aborted) samples?.blocks.push(performance.now() - begin);
    await pause(blockPauseMs, signal);
  }
}

/** Hash of the transaction, once it is in a block. */
async function mint(client: DevnetClient, name: string, tokenId: bigint): Promise<Hex> {
  const from = creatorOf(name);
  await client.setBalance({ address: from, value: parseEther("1") });
  await client.impersonateAccount({ address: from });
  const data = encodeFunctionData({
    abi: collectionAbi,
    functionName: "mintBatch",
    args: [from, tokenId, 1n],
  });
  const receipt = await client.request<{
    Method: "eth_sendTransactionSync";
    Parameters: [{ from: Hex; to: Hex; data: Hex }];
    ReturnType: { transactionHash: Hex };
  }>({ method: "eth_sendTransactionSync", params: [{ from, to: addressOf(name), data }] });
  return receipt.transactionHash;
}
