import { type Address, encodeFunctionData, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { guardedCollectionAbi, transferValidatorAbi } from "#devnet/contracts/abis.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let market: Market;
let node: RpcProxy;
let chain: ChainClient;
let owner: Address;

const guarded = { standard: "erc721", contract: contracts.guarded, tokenId: 1n } as const;
const { validator } = contracts;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  node = await startRpcProxy(market.anvil.rpcUrl);
  chain = openChainClient({ chainId: 33139, rpcUrls: [node.url] });
  owner = market.actors.alice.address.toLowerCase() as Address;
  await market.actors.alice.mints(guarded);
  await market.actors.alice.approves(guarded.contract);
});
afterAll(async () => {
  await node?.close();
  await market?.stop();
});
afterEach(async () => {
  await setBlocked(true);
  await setValidator(validator);
});

async function send(to: Address, data: Hex): Promise<void> {
  const { client } = market;
  await client.sendTransactionSync({ account: accounts.deployer, chain: client.chain, to, data });
}

const setBlocked = (blocked: boolean) =>
  send(
    validator,
    encodeFunctionData({
      abi: transferValidatorAbi,
      functionName: "setBlocked",
      args: [commonConduit.address, blocked],
    }),
  );

const setValidator = (address: Address) =>
  send(
    guarded.contract,
    encodeFunctionData({
      abi: guardedCollectionAbi,
      functionName: "setTransferValidator",
      args: [address],
    }),
  );

/** Its code moves elsewhere; in its place is code that calls that, but reverts for `transferFrom`, or does nothing. */
async function setLocked(isLocked: boolean, does: "revert" | "nothing" = "revert"): Promise<void> {
  const { client } = market;
  const elsewhere: Address = "0x0000000000000000000000000000000000005e58";
  const { contract: address } = guarded;
  if (!isLocked) {
    const bytecode = await client.getCode({ address: elsewhere });
    return await client.setCode({ address, bytecode: bytecode ?? "0x" });
  }
  const bytecode = await client.getCode({ address });
  await client.setCode({ address: elsewhere, bytecode: bytecode ?? "0x" });
  const called = elsewhere.slice(2);
  const locked: Hex = `0x60003560e01c6323b872dd146045573660006000376000600036600073${called}5af43d600060003e6040573d6000fd5b3d6000f35b60006000${does === "revert" ? "fd" : "f3"}`;
  await client.setCode({ address, bytecode: locked });
}

async function isAllowed({ standard, contract, tokenId }: Nft, from = owner) {
  const question = { kind: "transfer_read", contract, tokenId, owner: from, standard } as const;
  const reading = (await queryChain(chain, [question])).find(question);
  if (reading !== undefined) {
    expect(reading).toEqual({
      kind: "transfer_read",
      contract,
      tokenId,
      owner: from,
      allowed: reading.allowed,
    });
  }
  return reading?.allowed;
}

/** Whether somebody buys the token, who gives it back. */
async function isSold(nft: Nft): Promise<boolean> {
  const { alice, bob } = market.actors;
  const order = await alice.lists(nft, { priceWei: parseEther("0.5") });
  const isBought = await bob.buys(order).then(
    () => true,
    () => false,
  );
  if (isBought) await bob.transfers(nft, alice);
  return isBought;
}

describe("transfer_read", () => {
  it("is allowed for tokens of both standards that nobody guards", async () => {
    const { punks, editions, burnable } = contracts;
    const burnableToken: Nft = { standard: "erc721", contract: burnable, tokenId: 1n };
    await market.actors.alice.mints(burnableToken);
    await market.actors.alice.approves(burnable);

    expect(await isAllowed({ standard: "erc721", contract: punks, tokenId: 1n })).toBe(true);
    expect(await isAllowed({ standard: "erc1155", contract: editions, tokenId: 1n })).toBe(true);
    expect(await isAllowed(burnableToken)).toBe(true);
  });

  it("is not allowed where transferFrom does nothing, which sells what stays with its owner", async () => {
    await setBlocked(false);
    expect(await isAllowed(guarded)).toBe(true);
    await setLocked(true, "nothing");
    expect(await isAllowed(guarded)).toBe(false);
    await setLocked(false);
    expect(await isAllowed(guarded)).toBe(true);
  });

  it("follows the collection's validator as it blocks the conduit, lets it and is taken off", async () => {
    expect(await isAllowed(guarded)).toBe(false);
    await setBlocked(false);
    expect(await isAllowed(guarded)).toBe(true);
    await setBlocked(true);
    expect(await isAllowed(guarded)).toBe(false);
    await setValidator(zeroAddress);
    expect(await isAllowed(guarded)).toBe(true);
  });

  it("is unknown of who has no such token or has not approved the conduit", async () => {
    const { alice, bob } = market.actors;
    const mine: Nft = { standard: "erc721", contract: contracts.punks, tokenId: 2n };
    expect(await isAllowed(mine, bob.address.toLowerCase() as Address)).toBeUndefined();
    expect(await isAllowed({ ...mine, tokenId: 999_999n })).toBeUndefined();
    await alice.revokes(contracts.punks);
    expect(await isAllowed(mine)).toBeUndefined();
    await alice.approves(contracts.punks);
    expect(await isAllowed(mine)).toBe(true);
    const edition: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: 77n };
    expect(await isAllowed(edition)).toBeUndefined();
    await alice.mints(edition);
    expect(await isAllowed(edition)).toBe(true);
    await alice.burns(edition);
    expect(await isAllowed(edition)).toBeUndefined();
  });

  it.each<[string, Hex, boolean]>([
    // `origin == caller` refuses, and lets: the validator's caller is the collection.
    ["refuses a transaction of the collection's own", "0x323314600757005b60046000fd", true],
    ["lets a transaction of the collection's own alone", "0x323314600b5760006000fd5b00", false],
  ])("is what a purchase meets where a validator %s", async (_, bytecode, allowed) => {
    const fickle: Address = "0x0000000000000000000000000000000000005e55";
    await market.client.setCode({ address: fickle, bytecode });
    await setValidator(fickle);
    expect(await isAllowed(guarded)).toBe(allowed);
    expect(await isSold(guarded)).toBe(allowed);
  });

  it("is unknown where a validator goes by the conduit as the sender of the transaction", async () => {
    const fickle: Address = "0x0000000000000000000000000000000000005e57";
    const conduit = commonConduit.address.slice(2);
    // ORIGIN PUSH20 conduit EQ PUSH1 0x1f JUMPI PUSH1 0 PUSH1 0 REVERT JUMPDEST STOP
    const bytecode: Hex = `0x3273${conduit}14601f5760006000fd5b00`;
    await market.client.setCode({ address: fickle, bytecode });
    await setValidator(fickle);
    expect(await isAllowed(guarded)).toBeUndefined();
  });

  it("is refused for a token that its collection has locked, whatever its validator says", async () => {
    await setBlocked(false);
    expect(await isAllowed(guarded)).toBe(true);
    await setLocked(true);
    expect(await isAllowed(guarded)).toBe(false);
    expect(await isSold(guarded)).toBe(false);
    await setLocked(false);
    expect(await isAllowed(guarded)).toBe(true);
    expect(await isSold(guarded)).toBe(true);
  });

  it("is unknown on a node that does not use, or take, code for a call", async () => {
    await setBlocked(false);
    const withCode = (call: { params?: readonly unknown[] }) =>
      JSON.stringify(call.params?.[2] ?? {}).includes("code");
    for (const error of [
      { code: 3, message: "execution reverted", data: "0x" },
      { code: -32_602, message: "too many arguments, want at most 2" },
    ]) {
      node.override = (call) => (withCode(call) ? { error } : undefined);
      expect(await isAllowed(guarded)).toBeUndefined();
    }
    node.override = () => undefined;
    expect(await isAllowed(guarded)).toBe(true);
  });

  it("goes by the transfer alone where the validator does not know the question", async () => {
    const mute: Address = "0x0000000000000000000000000000000000005e56";
    await market.client.setCode({ address: mute, bytecode: "0x60006000fd" });
    await setValidator(mute);
    expect(await isAllowed(guarded)).toBe(false);
  });
});
