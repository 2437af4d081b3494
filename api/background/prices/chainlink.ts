import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi, size } from "viem";
import type { Coin } from "#chains/coins.ts";
import { type PriceSource, priceDecimals } from "#projections/prices/coin-prices.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import { callContracts, fetchReadBasis } from "#jobs/chain/contract-calls.ts";

const abi = parseAbi([
  "function decimals() view returns (uint8)",
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);

const decimals = encodeFunctionData({ abi, functionName: "decimals" });
const latestRound = encodeFunctionData({ abi, functionName: "latestRoundData" });

/** Chainlink aggregators on Ethereum. Each updates at least every `heartbeatSeconds`. */
export const aggregators: Record<Coin, { address: Address; heartbeatSeconds: number }> = {
  ethereum: { address: "0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419", heartbeatSeconds: 3_600 },
  apecoin: { address: "0xd10abbc76679a20055e167bb80a24ac851b37056", heartbeatSeconds: 86_400 },
};

/** Tolerated delay after the heartbeat. */
const graceSeconds = 600;

/**
 * A coin's price from its aggregator; null without a valid price that is recent at `now`. Throws `RpcFailure`.
 */
export async function fetchChainlinkPrice(
  client: ChainClient,
  coin: Coin,
  now: Date,
): Promise<PriceSource | null> {
  const { address: to, heartbeatSeconds } = aggregators[coin];
  const basis = await fetchReadBasis(client);
  const calls = [decimals, latestRound].map((data) => ({ to, data }));
  const [scale, round] = await callContracts(client, basis, calls);
  if (wordOf(scale) !== BigInt(priceDecimals) || !isWords(round, 5)) return null;
  const [roundId, answer, , updatedAt, answeredInRound] = decodeFunctionResult({
    abi,
    functionName: "latestRoundData",
    data: round,
  });
  const ageSeconds = now.getTime() / 1000 - Number(updatedAt);
  if (answer <= 0n || answeredInRound < roundId) return null;
  if (ageSeconds > heartbeatSeconds + graceSeconds) return null;
  return { name: "chainlink", priceE8: answer };
}

const isWords = (result: Hex | null | undefined, count: number): result is Hex =>
  result !== null && result !== undefined && size(result) === count * 32;

const wordOf = (said: Hex | null | undefined): bigint | null =>
  isWords(said, 1) ? BigInt(said) : null;
