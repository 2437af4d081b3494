import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { commonConduit } from "../../../abis/deployments.ts";
import { type ChainClient, openChainClient } from "../../../api/background/chain/clients.ts";
import { queryChain } from "../../../api/background/chain/query-chain.ts";
import { accounts } from "../../../devnet/accounts.ts";
import { guardedCollectionAbi, transferValidatorAbi } from "../../../devnet/contracts/abis.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import type { Nft } from "../../../projections/domain/seaport/listing-components.ts";
import { type Market, openMarket } from "../../support/chain/market.ts";

let market: Market;
let chain: ChainClient;
let owner: Address;

const guarded = { standard: "erc721", contract: contracts.guarded, tokenId: 1n } as const;
const { validator } = contracts;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  chain = openChainClient({ chainId: 33139, rpcUrls: [market.anvil.rpcUrl] });
  owner = market.actors.alice.address.toLowerCase() as Address;
  await market.actors.alice.mints(guarded);
  await market.actors.alice.approves(guarded.contract);
});
afterAll(() => market.stop());
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

  it.each<[string, Hex]>([
    ["lets whom the transfer does not", "0x323314600b5760006000fd5b00"],
    ["refuses whom the transfer lets", "0x323314600757005b60046000fd"],
  ])("is unknown where a validator that looks at the sender %s", async (_, bytecode) => {
    const fickle: Address = "0x0000000000000000000000000000000000005e55";
    await market.client.setCode({ address: fickle, bytecode });
    await setValidator(fickle);
    expect(await isAllowed(guarded)).toBeUndefined();
  });

  it("goes by the transfer alone where the validator does not know the question", async () => {
    const mute: Address = "0x0000000000000000000000000000000000005e56";
    await market.client.setCode({ address: mute, bytecode: "0x60006000fd" });
    await setValidator(mute);
    expect(await isAllowed(guarded)).toBe(false);
  });
});
