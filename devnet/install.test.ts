import {
  type Address,
  domainSeparator,
  encodeFunctionData,
  erc20Abi,
  hashMessage,
  multicall3Abi,
  parseAbi,
  parseEther,
  parseEventLogs,
  type TransactionReceipt,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ChainId,
  chainIds,
  commonConduit,
  conduitController,
  multicall3,
  seaport,
  wrappedNative,
} from "../abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "../abis/seaport.ts";
import { wrappedNativeAbi } from "../abis/tokens.ts";
import { accounts } from "./accounts.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { connect, type DevnetClient } from "./client.ts";
import {
  collectionAbi,
  consecutiveCollectionAbi,
  editionsAbi,
  guardedCollectionAbi,
  smartWalletAbi,
  transferValidatorAbi,
} from "./contracts/abis.ts";
import { contracts } from "./contracts/addresses.ts";
import { installContracts } from "./install.ts";

const { alice, bob, carol, royaltyRecipient } = accounts;
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

/** A data URI's document. */
function readDataUri(uri: string): Record<string, unknown> {
  const [head, content = ""] = uri.split(",");
  expect(head).toBe("data:application/json;base64");
  return JSON.parse(Buffer.from(content, "base64").toString()) as Record<string, unknown>;
}

describe.each(chainIds)("chain %i", (chainId) => {
  describe("the exchange", () => {
    it("signs in the domain of its own address on this chain", async () => {
      const information = await on(chainId).readContract({
        address: seaport["1.6"],
        abi: seaportFunctions,
        functionName: "information",
      });
      const domain = {
        name: "Seaport",
        version: "1.6",
        chainId,
        verifyingContract: seaport["1.6"],
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
        args: [commonConduit.address, seaport["1.6"]],
      });
      const events = await client.getContractEvents({
        address: commonConduit.address,
        abi: conduitAbi,
        eventName: "ChannelUpdated",
        fromBlock: 0n,
      });
      expect([conduit.toLowerCase(), exists, isOpen]).toEqual([commonConduit.address, true, true]);
      expect(events.map(({ args }) => [args.channel?.toLowerCase(), args.open])).toEqual([
        [seaport["1.6"], true],
      ]);
    });
  });

  it("wraps the native currency with the events of WETH9", async () => {
    const client = on(chainId);
    const weth = { address: wrappedNative[chainId], abi: wrappedNativeAbi, account: alice } as const;
    const receipts = [
      await client.writeContract({ ...weth, functionName: "deposit", value: 5n }),
      await client.writeContract({ ...weth, functionName: "transfer", args: [bob.address, 2n] }),
      await client.writeContract({ ...weth, functionName: "withdraw", args: [3n] }),
    ].map((hash) => mined(client, hash));
    const logs = (await Promise.all(receipts)).flatMap(({ logs }) => logs);
    expect(parseEventLogs({ abi: wrappedNativeAbi, logs }).map((l) => [l.eventName, l.args])).toEqual([
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

  it("answers batched reads, failed ones apart", async () => {
    const call = (tokenId: bigint) => ({
      target: contracts.punks,
      allowFailure: true,
      callData: encodeFunctionData({
        abi: collectionAbi,
        functionName: "royaltyInfo",
        args: [tokenId, 1000n],
      }),
    });
    const failing = {
      ...call(0n),
      callData: encodeFunctionData({
        abi: collectionAbi,
        functionName: "ownerOf",
        args: [999_999n],
      }),
    };
    const { result } = await on(chainId).simulateContract({
      address: multicall3,
      abi: multicall3Abi,
      functionName: "aggregate3",
      args: [[call(1n), failing]],
    });
    expect(result.map(({ success }) => success)).toEqual([true, false]);
  });

  it("changes nothing when installed again", async () => {
    const client = on(chainId);
    const before = await client.getBlock();
    await installContracts(client);
    expect((await client.getBlock()).hash).toBe(before.hash);
  });
});

describe("tokens", () => {
  const client = () => on(33139);
  const mint = async (address: Address, to: Address, id: bigint) =>
    mined(
      client(),
      await client().writeContract({
        address,
        abi: collectionAbi,
        account: carol,
        functionName: "mint",
        args: [to, id],
      }),
    );

  it("carry attributes that vary, numbers among them, and a royalty of 5 %", async () => {
    const punks = { address: contracts.punks, abi: collectionAbi } as const;
    const mintBatch = { ...punks, account: carol, functionName: "mintBatch" } as const;
    await mined(client(), await client().writeContract({ ...mintBatch, args: [bob.address, 1n, 30n] }));
    const documents = await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        readDataUri(
          await client().readContract({ ...punks, functionName: "tokenURI", args: [BigInt(i) + 1n] }),
        ),
      ),
    );
    const traits = documents.flatMap(
      ({ attributes }) => attributes as { trait_type: string; value: unknown }[],
    );
    const valuesOf = (type: string) =>
      new Set(traits.filter((trait) => trait.trait_type === type).map(({ value }) => value));
    expect(documents[6]).toMatchObject({ name: "Local Punks #7" });
    expect(documents[6]?.["image"]).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(valuesOf("Background").size).toBeGreaterThan(2);
    expect(valuesOf("Hat")).toEqual(new Set(["Beanie", "Top Hat"]));
    expect([...valuesOf("Level")].every((level) => typeof level === "number")).toBe(true);
    const royalty = await client().readContract({
      ...punks,
      functionName: "royaltyInfo",
      args: [1n, parseEther("1")],
    });
    expect([royalty[0].toLowerCase(), royalty[1]]).toEqual([royaltyRecipient, parseEther("0.05")]);
  });

  it("describe their collections", async () => {
    for (const [address, name] of [
      [contracts.punks, "Local Punks"],
      [contracts.editions, "Local Editions"],
    ] as const) {
      const contractURI = { address, abi: collectionAbi, functionName: "contractURI" } as const;
      expect(readDataUri(await client().readContract(contractURI))).toMatchObject({ name });
    }
  });

  it("move in several units when they are editions", async () => {
    const editions = { address: contracts.editions, abi: editionsAbi, account: bob } as const;
    const id = 4n;
    const hashes = [
      await client().writeContract({ ...editions, functionName: "mint", args: [bob.address, id, 9n] }),
      await client().writeContract({ ...editions, functionName: "burn", args: [bob.address, id, 2n] }),
    ];
    await Promise.all(hashes.map((hash) => mined(client(), hash)));
    const balanceOf = { ...editions, functionName: "balanceOf", args: [bob.address, id] } as const;
    const uri = await client().readContract({ ...editions, functionName: "uri", args: [id] });
    expect(await client().readContract(balanceOf)).toBe(7n);
    expect(readDataUri(uri)).toMatchObject({ name: "Local Editions #4" });
  });

  it("are minted as a range by one event (ERC-2309), owned and moved one by one", async () => {
    const token = { address: contracts.consecutive, abi: consecutiveCollectionAbi } as const;
    const minted = await mined(
      client(),
      await client().writeContract({
        ...token,
        account: carol,
        functionName: "mintConsecutive",
        args: [alice.address, 5n],
      }),
    );
    const events = parseEventLogs({ abi: consecutiveCollectionAbi, logs: minted.logs });
    expect(events.map(({ eventName, args }) => [eventName, args])).toEqual([
      [
        "ConsecutiveTransfer",
        {
          fromTokenId: 0n,
          toTokenId: 4n,
          fromAddress: "0x0000000000000000000000000000000000000000",
          toAddress: alice.address,
        },
      ],
    ]);
    const moved = { ...token, account: alice, functionName: "transferFrom" } as const;
    const burned = { ...token, account: alice, functionName: "burn" } as const;
    await mined(
      client(),
      await client().writeContract({ ...moved, args: [alice.address, bob.address, 3n] }),
    );
    await mined(client(), await client().writeContract({ ...burned, args: [2n] }));
    const ownerOf = (id: bigint) =>
      client().readContract({ ...token, functionName: "ownerOf", args: [id] });
    expect([await ownerOf(3n), await ownerOf(4n)]).toEqual([bob.address, alice.address]);
    await expect(ownerOf(2n)).rejects.toThrow("ERC721NonexistentToken");
  });

  it("with a transfer validator let their owner move them and not the conduit", async () => {
    const guarded = { address: contracts.guarded, abi: guardedCollectionAbi } as const;
    await mint(contracts.guarded, alice.address, 8n);
    await mined(
      client(),
      await client().writeContract({
        ...guarded,
        account: alice,
        functionName: "setApprovalForAll",
        args: [commonConduit.address, true],
      }),
    );
    const transfer = {
      ...guarded,
      abi: [...guardedCollectionAbi, ...transferValidatorAbi],
      functionName: "transferFrom",
      args: [alice.address, bob.address, 8n],
    } as const;
    const byConduit = client().simulateContract({ ...transfer, account: commonConduit.address });
    await expect(byConduit).rejects.toThrow("CreatorTokenTransferValidator__CallerMustBeWhitelisted");
    await client().simulateContract({ ...transfer, account: alice });
    const validator = await client().readContract({
      ...guarded,
      functionName: "getTransferValidator",
    });
    expect(validator.toLowerCase()).toBe(contracts.validator);
  });
});

describe("the smart wallet", () => {
  const wallet = { address: contracts.smartWallet, abi: smartWalletAbi } as const;
  const validate = async (signer: typeof alice) =>
    on(1).readContract({
      ...wallet,
      functionName: "isValidSignature",
      args: [hashMessage("order"), await signer.signMessage({ message: "order" })],
    });

  it("validates signatures of its owner only (ERC-1271)", async () => {
    expect(await validate(alice)).toBe("0x1626ba7e");
    expect(await validate(bob)).toBe("0xffffffff");
  });

  it("does what its owner says, and nobody else", async () => {
    const data = encodeFunctionData({
      abi: collectionAbi,
      functionName: "mint",
      args: [contracts.smartWallet, 50n],
    });
    const execute = { ...wallet, functionName: "execute", args: [contracts.punks, 0n, data] } as const;
    await expect(on(1).simulateContract({ ...execute, account: bob })).rejects.toThrow();
    await mined(on(1), await on(1).writeContract({ ...execute, account: alice }));
    const ownerOf = { address: contracts.punks, abi: collectionAbi, functionName: "ownerOf" } as const;
    const owner = await on(1).readContract({ ...ownerOf, args: [50n] });
    expect(owner.toLowerCase()).toBe(contracts.smartWallet);
  });
});
