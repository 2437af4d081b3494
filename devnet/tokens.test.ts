import {
  type Address,
  encodeFunctionData,
  type Hash,
  hashMessage,
  parseEther,
  parseEventLogs,
  zeroAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonConduit } from "../abis/deployments.ts";
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
import { installTokens } from "./install.ts";

const { alice, bob, carol, royaltyRecipient } = accounts;
/** Selector of ERC721NonexistentToken(uint256), ERC-6093. */
const erc721NonexistentToken = "0x7e273289";

let anvil: Anvil;
let client: DevnetClient;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 33139 });
  client = connect(anvil);
  await installTokens(client);
});

afterAll(() => anvil.stop());

const mined = async (hash: Hash | Promise<Hash>) =>
  client.waitForTransactionReceipt({ hash: await hash });

type Document = {
  name: string;
  image: string;
  attributes?: { trait_type: string; value: unknown }[];
};

/** A data URI's document. */
function readDataUri(uri: string): Document {
  const [head, content = ""] = uri.split(",");
  expect(head).toBe("data:application/json;base64");
  return JSON.parse(Buffer.from(content, "base64").toString()) as Document;
}

describe("tokens", () => {
  const mint = async (address: Address, to: Address, id: bigint) =>
    mined(
      client.writeContract({
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
    await mined(client.writeContract({ ...mintBatch, args: [bob.address, 1n, 30n] }));
    const documents = await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        readDataUri(
          await client.readContract({
            ...punks,
            functionName: "tokenURI",
            args: [BigInt(i) + 1n],
          }),
        ),
      ),
    );
    const traits = documents.flatMap(({ attributes = [] }) => attributes);
    const valuesOf = (type: string) =>
      new Set(traits.filter((trait) => trait.trait_type === type).map(({ value }) => value));
    expect(documents[6]).toMatchObject({ name: "Local Punks #7" });
    expect(documents[6]?.image).toMatch(/^data:image\/svg\+xml;base64,/);
    expect(new Set(documents.map(({ image }) => image)).size).toBe(30);
    expect(Math.max(...documents.map(({ image }) => image.length))).toBeLessThan(2_400);
    expect(valuesOf("Background").size).toBeGreaterThan(2);
    expect(valuesOf("Hat")).toEqual(new Set(["Beanie", "Top Hat"]));
    expect([...valuesOf("Level")].every((level) => typeof level === "number")).toBe(true);
    const royalty = await client.readContract({
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
      expect(readDataUri(await client.readContract(contractURI))).toMatchObject({ name });
    }
  });

  it("move in several units when they are editions", async () => {
    const editions = { address: contracts.editions, abi: editionsAbi, account: bob } as const;
    const id = 4n;
    const hashes = [
      await client.writeContract({
        ...editions,
        functionName: "mint",
        args: [bob.address, id, 9n],
      }),
      await client.writeContract({
        ...editions,
        functionName: "burn",
        args: [bob.address, id, 2n],
      }),
    ];
    await Promise.all(hashes.map((hash) => mined(hash)));
    const balanceOf = { ...editions, functionName: "balanceOf", args: [bob.address, id] } as const;
    const uri = await client.readContract({ ...editions, functionName: "uri", args: [id] });
    expect(await client.readContract(balanceOf)).toBe(7n);
    expect(readDataUri(uri)).toMatchObject({ name: "Local Editions #4" });
  });

  it("are minted as a range by one event (ERC-2309), owned and moved one by one", async () => {
    const token = { address: contracts.consecutive, abi: consecutiveCollectionAbi } as const;
    const minted = await mined(
      client.writeContract({
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
          fromAddress: zeroAddress,
          toAddress: alice.address,
        },
      ],
    ]);
    const moved = { ...token, account: alice, functionName: "transferFrom" } as const;
    const burned = { ...token, account: alice, functionName: "burn" } as const;
    await mined(client.writeContract({ ...moved, args: [alice.address, bob.address, 3n] }));
    await mined(client.writeContract({ ...burned, args: [2n] }));
    const ownerOf = (id: bigint) =>
      client.readContract({ ...token, functionName: "ownerOf", args: [id] });
    expect([await ownerOf(3n), await ownerOf(4n)]).toEqual([bob.address, alice.address]);
    await expect(ownerOf(2n)).rejects.toThrow(erc721NonexistentToken);
  });

  it("with a transfer validator let their owner move them and not the conduit", async () => {
    const guarded = { address: contracts.guarded, abi: guardedCollectionAbi } as const;
    await mint(contracts.guarded, alice.address, 8n);
    await mined(
      client.writeContract({
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
    const byConduit = client.simulateContract({ ...transfer, account: commonConduit.address });
    await expect(byConduit).rejects.toThrow(
      "CreatorTokenTransferValidator__CallerMustBeWhitelisted",
    );
    await client.simulateContract({ ...transfer, account: alice });
    const validator = await client.readContract({
      ...guarded,
      functionName: "getTransferValidator",
    });
    expect(validator.toLowerCase()).toBe(contracts.validator);
  });
});

describe("the smart wallet", () => {
  const wallet = { address: contracts.smartWallet, abi: smartWalletAbi } as const;
  const validate = async (signer: typeof alice) =>
    client.readContract({
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
    const execute = {
      ...wallet,
      functionName: "execute",
      args: [contracts.punks, 0n, data],
    } as const;
    await expect(client.simulateContract({ ...execute, account: bob })).rejects.toThrow();
    await mined(client.writeContract({ ...execute, account: alice }));
    const ownerOf = {
      address: contracts.punks,
      abi: collectionAbi,
      functionName: "ownerOf",
    } as const;
    const owner = await client.readContract({ ...ownerOf, args: [50n] });
    expect(owner.toLowerCase()).toBe(contracts.smartWallet);
  });
});
