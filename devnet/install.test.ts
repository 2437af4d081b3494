import { domainSeparator, erc20Abi, parseAbi, parseEventLogs, type TransactionReceipt } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  commonConduit,
  conduitController,
  multicall3,
  seaportAddresses,
} from "../abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "../abis/seaport.ts";
import { wrappedNativeAbi } from "../abis/tokens.ts";
import { type ChainId, chainIds, wrappedNative } from "../chains/index.ts";
import { accounts } from "./accounts.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { connect, type DevnetClient } from "./client.ts";
import { collectionAbi } from "./contracts/abis.ts";
import { contracts } from "./contracts/addresses.ts";
import { installContracts } from "./install.ts";

const { alice, bob } = accounts;
const running: { anvil: Anvil; client: DevnetClient; chainId: ChainId }[] = [];

beforeAll(async () => {
  await Promise.all(
    chainIds.map(async (chainId) => {
      const anvil = await startAnvil({ chainId });
      const client = connect(anvil);
      running.push({ anvil, client, chainId });
      await installContracts(client);
    }),
  );
});

afterAll(async () => {
  await Promise.all(running.map(({ anvil }) => anvil.stop()));
});

function on(chainId: ChainId): DevnetClient {
  const found = running.find((chain) => chain.chainId === chainId);
  if (found === undefined) throw new Error(`Chain ${chainId} is not up`);
  return found.client;
}

const mined = (client: DevnetClient, hash: `0x${string}`): Promise<TransactionReceipt> =>
  client.waitForTransactionReceipt({ hash });

describe.each(chainIds)("chain %i", (chainId) => {
  describe("the exchange", () => {
    it("signs in the domain of its own address on this chain", async () => {
      const information = await on(chainId).readContract({
        address: seaportAddresses["1.6"],
        abi: seaportFunctions,
        functionName: "information",
      });
      const domain = {
        name: "Seaport",
        version: "1.6",
        chainId,
        verifyingContract: seaportAddresses["1.6"],
      };
      expect(information[0]).toBe("1.6");
      expect(information[1]).toBe(domainSeparator({ domain }));
      expect(information[2].toLowerCase()).toBe(conduitController);
    });

    it("reaches tokens through the common conduit, whose opened channel is an event", async () => {
      const client = on(chainId);
      const getConduit = parseAbi([
        "function getConduit(bytes32 key) view returns (address conduit, bool exists)",
      ]);
      const [conduit, exists] = await client.readContract({
        address: conduitController,
        abi: getConduit,
        functionName: "getConduit",
        args: [commonConduit.key],
      });
      const isOpen = await client.readContract({
        address: conduitController,
        abi: conduitAbi,
        functionName: "getChannelStatus",
        args: [commonConduit.address, seaportAddresses["1.6"]],
      });
      const events = await client.getContractEvents({
        address: commonConduit.address,
        abi: conduitAbi,
        eventName: "ChannelUpdated",
        fromBlock: 0n,
      });
      expect([conduit.toLowerCase(), exists, isOpen]).toEqual([commonConduit.address, true, true]);
      expect(events.map(({ args }) => [args.channel?.toLowerCase(), args.open])).toEqual([
        [seaportAddresses["1.6"], true],
      ]);
    });
  });

  it("wraps the native currency with the events of WETH9", async () => {
    const client = on(chainId);
    const weth = {
      address: wrappedNative[chainId],
      abi: wrappedNativeAbi,
      account: alice,
    } as const;
    const receipts = [
      await client.writeContract({ ...weth, functionName: "deposit", value: 5n }),
      await client.writeContract({ ...weth, functionName: "transfer", args: [bob.address, 2n] }),
      await client.writeContract({ ...weth, functionName: "withdraw", args: [3n] }),
    ].map((hash) => mined(client, hash));
    const logs = (await Promise.all(receipts)).flatMap(({ logs }) => logs);
    expect(
      parseEventLogs({ abi: wrappedNativeAbi, logs }).map((l) => [l.eventName, l.args]),
    ).toEqual([
      ["Deposit", { dst: alice.address, wad: 5n }],
      ["Transfer", { src: alice.address, dst: bob.address, wad: 2n }],
      ["Withdrawal", { src: alice.address, wad: 3n }],
    ]);
    const symbol = await client.readContract({
      address: wrappedNative[chainId],
      abi: erc20Abi,
      functionName: "symbol",
    });
    expect(symbol).toBe(chainId === 1 ? "WETH" : "WAPE");
  });

  it("answers batched reads, the failed ones apart", async () => {
    const punks = { address: contracts.punks, abi: collectionAbi } as const;
    const results = await on(chainId).multicall({
      multicallAddress: multicall3,
      contracts: [
        { ...punks, functionName: "name" },
        { ...punks, functionName: "ownerOf", args: [999_999n] },
      ],
    });
    expect(results.map(({ status }) => status)).toEqual(["success", "failure"]);
  });

  it("changes nothing when installed again", async () => {
    const client = on(chainId);
    const before = await client.getBlock();
    await installContracts(client);
    expect((await client.getBlock()).hash).toBe(before.hash);
  });
});
