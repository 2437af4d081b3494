import { sql } from "kysely";
import { type Address, encodeFunctionData, type Hex, toFunctionSelector, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { multicall3 } from "#abis/deployments.ts";
import { sudoswapFactories, sudoswapV2PairAbi } from "#abis/sudoswap.ts";
import { sudoswapFactoryAbi, sudoswapPoolAbi } from "#devnet/contracts/abis.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { fetchPoolCoins } from "#jobs/recording/fetch-pool-coins.ts";
import { recordChain } from "#test/support/chain/chain-facts.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { addressOf } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let market: Market;
let database: TestDatabase;
beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  database = await createDatabase();
});
afterAll(async () => {
  await database?.drop();
  await market?.stop();
});

const open = () => openChainClient({ chainId: 1, rpcUrls: [market.anvil.rpcUrl] });
const hexOf = (n: number) => n.toString(16).padStart(2, "0");
const [pairVariant, token] = sudoswapV2PairAbi.map((one) => toFunctionSelector(one).slice(2));

/** Code that returns a variant and a coin, and reverts at any other call, as pools that are paid in ether do at `token`. */
function poolCode(variant: number, coin: Address | null): Hex {
  const answer = (push: string) => `5b${push}60005260206000f3`;
  const selects = `60003560e01c8063${pairVariant}14601d5763${coin === null ? pairVariant : token}1460285760`;
  return `0x${selects}0080fd${answer(`60${hexOf(variant)}`)}${answer(`73${(coin ?? zeroAddress).slice(2)}`)}`;
}

let pools = 0;
async function placePool(code: Hex): Promise<Address> {
  pools += 1;
  const address = addressOf(0x5000 + pools);
  await market.client.setCode({ address, bytecode: code });
  return address;
}

const coin = addressOf(0x77);

/** What pools are, and the coin that they are known to be paid in; null: none is known. */
const kinds: [string, Hex, Address | null][] = [
  ["of ERC-721, for ether", poolCode(0, null), zeroAddress],
  ["of ERC-721, for a coin", poolCode(1, coin), coin],
  ["of ERC-1155, for ether", poolCode(2, null), zeroAddress],
  ["of ERC-1155, for a coin", poolCode(3, coin), coin],
  ["for the coin with the address zero, which anybody moves", poolCode(1, zeroAddress), null],
  ["for a coin that it does not name", poolCode(1, null), null],
  ["of a variant that does not exist", poolCode(4, coin), null],
  ["that says no variant", "0x60006000fd", null],
];

describe.each(["deployed", "absent"])("with Multicall3 %s, the coin of a pool", (multicall) => {
  it("is what its code says: of each kind, asked alone or with others", async () => {
    const code = await market.client.getCode({ address: multicall3 });
    if (multicall === "absent")
      await market.client.setCode({ address: multicall3, bytecode: "0x" });
    const placed: [Address, Address | null][] = [];
    for (const [, bytecode, expected] of kinds) placed.push([await placePool(bytecode), expected]);
    const expected = Object.fromEntries(placed);
    expect(await fetchPoolCoins(open(), Object.keys(expected))).toEqual(expected);
    for (const [pool, of] of placed)
      expect(await fetchPoolCoins(open(), [pool])).toEqual({ [pool]: of });
    await market.client.setCode({ address: multicall3, bytecode: code ?? "0x" });
  });

  it("is not read of an address without code: a node may lag behind the pool's block", async () => {
    await expect(fetchPoolCoins(open(), [addressOf(0x6000)])).rejects.toThrow(RpcFailure);
  });
});

it("is stored with the pool's events that are fetched from the chain", async () => {
  const { alice } = market.actors;
  const factory = sudoswapFactories["2"];
  const abi = sudoswapPoolAbi;
  const args = [contracts.punks, 1n] as const;
  const create = encodeFunctionData({ abi: sudoswapFactoryAbi, functionName: "createPair", args });
  await alice.transact({ to: factory, data: create });
  const pool = await market.client.readContract({
    ...{ address: factory, abi: sudoswapFactoryAbi, functionName: "lastPool" },
  });
  const data = encodeFunctionData({ abi, functionName: "swapNFTsForToken", args: [[]] });
  await alice.transact({ to: pool as Address, data });
  await recordChain(database.db, { chainId: 1, rpcUrl: market.anvil.rpcUrl });
  const { rows } = await sql<{ factory: string; coin: string }>`
    select payload ->> 'factory' as factory, payload ->> 'coin' as coin from log.fact
    where payload ->> 'source' = 'SudoswapV2'`.execute(database.db);
  expect(rows).toEqual([{ factory, coin: zeroAddress }]);
});
