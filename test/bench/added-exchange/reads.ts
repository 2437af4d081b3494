import { setTimeout as delay } from "node:timers/promises";
import { accountAt, accounts, collectionAt, collections, draw } from "../generated-chain/chain.ts";

const pauseMs = 20;

/** Lists and single rows, of collections, tokens and wallets drawn anew each time, so that few answers are kept ones. */
const paths: readonly ((number: number) => string)[] = [
  (number) => `/v1/sales?chainId=1&collection=${collectionOf(number)}`,
  (number) => `/v1/sales?chainId=1&wallet=${walletOf(number)}`,
  (number) => `/v1/activity?chainId=1&wallet=${walletOf(number)}`,
  (number) => `/v1/activity?chainId=1&collection=${collectionOf(number)}`,
  (number) => `/v1/wallets/${walletOf(number)}/tokens?chainId=1`,
  (number) => `/v1/collections/${collectionOf(number)}?chainId=1`,
  (number) => `/v1/collections/${collectionOf(number)}/tokens?chainId=1`,
  (number) => `/v1/collections/${collectionOf(number)}/tokens/${tokenOf(number)}?chainId=1`,
  (number) => `/v1/collections/${collectionOf(number)}/holders?chainId=1`,
];

const collectionOf = (number: number) => collectionAt(draw(number, 21, collections));
const walletOf = (number: number) => accountAt(draw(number, 22, accounts));
const tokenOf = (number: number) => draw(number, 23, 50);

let reads = 0;

/** Reads one after the other until aborted. Milliseconds until each answer's last byte; throws where one is not good. */
export async function readUntil(baseUrl: string, signal: AbortSignal): Promise<number[]> {
  const durationsMs: number[] = [];
  for (; !signal.aborted; reads += 1) {
    const path = paths[reads % paths.length]?.(reads) ?? "";
    const startedAt = performance.now();
    const response = await fetch(baseUrl + path);
    const body = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${body}`);
    durationsMs.push(performance.now() - startedAt);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return durationsMs;
}
