import {
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  isAddressEqual,
  parseEther,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { contracts, signedZone } from "#devnet/contracts/addresses.ts";
import { installContracts } from "#devnet/install.ts";
import { type Actors, createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import type { StoredListing } from "../listing-store.ts";
import { callOf, type ProposedFill, proposeFill } from "../propose-fill.fixture.ts";
import type { StandIn } from "../stand-in.ts";
import { authorizationSeconds } from "./fulfillment.ts";
import { openPartnerA } from "./opensea.ts";

const { alice, bob, carol } = accounts;
const chainId = 33139;
let anvil: Anvil;
let client: DevnetClient;
let actors: Actors;
let partner: StandIn;
let nextTokenId = 1n;

beforeAll(async () => {
  anvil = await startAnvil({ chainId });
  client = connect(anvil);
  await installContracts(client);
  const market = {
    chainId,
    client,
    sending: sendAsMined(client),
    random: seededRandom(1),
  } as const;
  actors = createActors(market);
  partner = await openPartnerA({ chains: [anvil] });
});
afterAll(async () => {
  await partner.close();
  await anvil.stop();
});

async function aliceSells(): Promise<StoredListing> {
  const nft = { standard: "erc721", contract: contracts.punks, tokenId: nextTokenId++ } as const;
  await actors.alice.mints(nft);
  return partner.sell({ chainId, maker: alice, nft, priceWei: parseEther("2") });
}

const proposeTo = (buyer: typeof bob, { orderHash }: StoredListing, units?: number) =>
  proposeFill({
    ...{ url: partner.url, chain: "ape_chain", orderHash, buyer: buyer.address },
    ...(units === undefined ? {} : { units }),
  });

async function fill(buyer: typeof bob, proposed: ProposedFill): Promise<string> {
  const hash = await client.writeContract({ account: buyer, gas: 1_000_000n, ...callOf(proposed) });
  return (await client.waitForTransactionReceipt({ hash })).status;
}

/** Name of the error with which the zone stops the fill; undefined: it would go through. */
async function refusalOf(buyer: typeof bob, proposed: ProposedFill): Promise<string | undefined> {
  try {
    await client.simulateContract({ account: buyer, ...callOf(proposed) });
    return undefined;
  } catch (error) {
    const reverted =
      error instanceof BaseError
        ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
        : null;
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
    return reverted.data?.errorName ?? reverted.raw;
  }
}

const ownerOf = (tokenId: bigint) =>
  client.readContract({
    ...{ address: contracts.punks, abi: erc721Abi },
    functionName: "ownerOf",
    args: [tokenId],
  });

function withExtraData(
  { fulfillment_data: { transaction } }: ProposedFill,
  change: (extraData: Hex) => Hex,
): ProposedFill {
  const { input_data: input } = transaction;
  const advancedOrder = {
    ...input.advancedOrder,
    extraData: change(input.advancedOrder.extraData),
  };
  return {
    fulfillment_data: { transaction: { ...transaction, input_data: { ...input, advancedOrder } } },
  };
}

describe("the zone of a partner's orders", () => {
  it("lets the buyer named in the fulfilment data fill the order", async () => {
    const shown = await aliceSells();

    const { status, body } = await proposeTo(bob, shown);

    expect(status).toBe(200);
    expect(await fill(bob, body)).toBe("success");
    expect(await ownerOf(shown.tokenId)).toBe(bob.address);
    expect(isAddressEqual(shown.order.components.zone, signedZone)).toBe(true);
  });

  it("stops everybody else", async () => {
    const shown = await aliceSells();
    const { body } = await proposeTo(bob, shown);

    expect(await refusalOf(carol, body)).toBe("InvalidFulfiller");
    expect(await fill(carol, body)).toBe("reverted");
    expect(await ownerOf(shown.tokenId)).toBe(alice.address);
  });

  it("stops the buyer when two minutes have passed, and lets him in with fresh data", async () => {
    const shown = await aliceSells();
    const { body } = await proposeTo(bob, shown);
    const state = await client.snapshot();
    await client.increaseTime({ seconds: authorizationSeconds + 60 });
    await client.mine({ blocks: 1 });

    expect(await refusalOf(bob, body)).toBe("SignatureExpired");
    partner.fail({ clockOffsetSeconds: authorizationSeconds + 60 });
    const fresh = await proposeTo(bob, shown);
    expect(await refusalOf(bob, fresh.body)).toBeUndefined();

    partner.heal();
    await client.revert({ id: state });
  });

  it("believes no other signer, order, version or length", async () => {
    const shown = await aliceSells();
    const { body } = await proposeTo(bob, shown);
    const { body: other } = await proposeTo(bob, await aliceSells());
    partner.fail({ wrong: ["signer"] });
    const { body: forged } = await proposeTo(bob, shown);
    partner.heal();
    const othersWord = other.fulfillment_data.transaction.input_data.advancedOrder.extraData;

    expect(await refusalOf(bob, forged)).toBe("SignerNotActive");
    expect(
      await refusalOf(
        bob,
        withExtraData(body, () => othersWord),
      ),
    ).toBe("SignerNotActive");
    const versionOne = withExtraData(body, (data) => `0x01${data.slice(4)}`);
    expect(await refusalOf(bob, versionOne)).toBe("InvalidExtraData");
    expect(
      await refusalOf(
        bob,
        withExtraData(body, () => "0x"),
      ),
    ).toBe("InvalidExtraData");
    const otherContext = withExtraData(body, (data) => `${data}00`);
    expect(await refusalOf(bob, otherContext)).toBe("SignerNotActive");
    expect(await refusalOf(bob, body)).toBeUndefined();
  });

  it("lets an edition be filled in parts, each with its own word", async () => {
    const nft = { standard: "erc1155", contract: contracts.editions, tokenId: 3n } as const;
    await actors.alice.mints(nft, 6n);
    const shown = await partner.sell({
      ...{ chainId, maker: alice, nft, quantity: 6n, priceWei: parseEther("1") },
    });

    expect(await fill(bob, (await proposeTo(bob, shown, 2)).body)).toBe("success");
    await partner.look();
    expect(shown).toMatchObject({ status: "active", remaining: 4n });
    expect(await fill(carol, (await proposeTo(carol, shown)).body)).toBe("success");
    await partner.look();

    expect(shown).toMatchObject({ status: "filled", remaining: 0n });
    const held = await client.readContract({
      ...{ address: nft.contract, abi: erc1155Abi },
      functionName: "balanceOf",
      args: [carol.address, nft.tokenId],
    });
    expect(held).toBe(4n);
  });
});
