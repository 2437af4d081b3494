import { type Address, concatHex, type Hex, numberToHex, pad, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainId } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { fetchDueRoyalties, type RoyaltyState } from "#jobs/collections/fetch-royalties.ts";
import { registerCuratedCollections } from "#jobs/collections/register-curated.ts";
import { unansweredContracts } from "#jobs/runner/limits.ts";
import { operatorRoyaltyStated } from "#projections/collections/facts.ts";
import type { FeeReview } from "#projections/domain/royalty.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { creatorFeeRead } from "#projections/partners/sync-fees.ts";
import { addressOf, appendEvents, block, zeroAddress } from "#test/support/database/given.ts";
import { wireOrder } from "#test/support/orders/intake-fixture.ts";
import { type OrderBookFixture, openOrderBook } from "#test/support/orders/order-book-fixture.ts";
import { filled, givenListing } from "#test/support/orders/order-facts.ts";

/** Answers every call by the address in slot 0 and the second argument's share, in hundredths of a percent, in slot 1. */
const sharingCode: Hex = "0x5f545f52612710600154602435020460205260405ff3";

/** Says of every token that 5 % are for the address that is its id. */
const creatorCode: Hex = "0x6004355f526127106101f4602435020460205260405ff3";

const recipients = {
  partner: addressOf(1),
  contract: addressOf(2),
  file: addressOf(3),
  operator: addressOf(4),
};

type Case = {
  /** Null: it says nothing. */
  partner: "in_force" | "held" | null;
  contractBps: number;
  isInFile: boolean;
  /** Null: nothing was decided. */
  operatorBps: number | null;
};
const partnerWords = [null, "in_force", "held"] as const;

/** The order of the sources. */
function expectedSource(chainId: ChainId, one: Case | undefined): string {
  if (one === undefined) throw new Error("there is no such case");
  if (one.operatorBps !== null) return one.operatorBps === 0 ? "none" : "configured";
  if (one.partner === "in_force") return "partner";
  if (one.contractBps > 0) return "erc2981";
  return one.isInFile && chainId === 1 ? "configured" : "none";
}

describe.each<ChainId>([1, 33139])("on chain %i, the royalty of a collection", (chainId) => {
  let book: OrderBookFixture;
  let state: RoyaltyState;
  let now = new Date();
  beforeAll(async () => {
    book = await openOrderBook(chainId);
    state = { head: await readLogHead(book.db), unanswered: unansweredContracts() };
  });
  afterAll(() => book?.close());

  /** What the job does until nothing is due. */
  async function readRoyalties(): Promise<void> {
    const client = openChainClient({ chainId, rpcUrls: [book.node.url], timeoutMs: 20_000 });
    const work = { db: book.db, client, now: () => now };
    for (;;) {
      await book.catchUp();
      if ((await fetchDueRoyalties(work, state)) === 0) return;
    }
  }

  const set = async (contract: Address, recipient: Address, bps: number) => {
    const slots = [pad(recipient, { size: 32 }), numberToHex(bps, { size: 32 })];
    for (const [index, value] of slots.entries()) {
      await book.client.setStorageAt({
        address: contract,
        index: numberToHex(index, { size: 32 }),
        value,
      });
    }
    await book.client.mine({ blocks: 1 });
  };

  const royaltyOf = async (contract: Address) =>
    (await book.get(`/v1/collections/${contract}?chainId=${chainId}`)).data.royalty;

  async function demanded(contract: Address, unitPriceWei: bigint) {
    const query = `chainId=${chainId}&kind=collection&contract=${contract}&unitPriceWei=${unitPriceWei}`;
    return (await book.get(`/v1/orders/params?${query}`)).data.offers.royalty;
  }

  /** The law: what a collection shows is what orders are asked for, at any price. */
  async function expectEqual(contract: Address): Promise<string> {
    const shown = await royaltyOf(contract);
    for (const priceWei of [parseEther("1"), 123_456_789_012_345n, 10n ** 21n + 7n]) {
      const asked = await demanded(contract, priceWei);
      expect(asked).toMatchObject({
        royaltyWei: `${(priceWei * BigInt(shown.bps)) / 10_000n}`,
        royaltyRecipient: shown.recipient,
        source: shown.source,
      });
    }
    return shown.source;
  }

  async function partnerSays(contract: Address, state: "in_force" | "held"): Promise<void> {
    const review: FeeReview = state === "held" ? { state, reason: "above_cap" } : { state };
    const fees = [{ recipient: recipients.partner, bps: 500, isRequired: true }];
    const word = { chainId, contract, marketplace: "opensea", fees, change: 0 };
    await appendObservations(book.db, [creatorFeeRead({ ...word, review, readAt: now })]);
  }

  async function fileSays(primary: Address, slug: string): Promise<void> {
    const royalty = { recipient: recipients.file, bps: 200 };
    const entry = { chainId, slug, name: "Case", verified: true, royalty };
    const curated = { ...entry, primary, contracts: [primary] };
    await registerCuratedCollections(book.db, [curated], now);
  }

  async function operatorSays(contract: Address, bps: number): Promise<void> {
    const royalty = { recipient: bps === 0 ? null : recipients.operator, bps };
    await appendObservations(book.db, [
      operatorRoyaltyStated({ chainId, contract, royalty, at: now }),
    ]);
  }

  async function contractSays(contract: Address, bps: number): Promise<void> {
    await book.client.setCode({ address: contract, bytecode: sharingCode });
    await set(contract, recipients.contract, bps);
  }

  /** Makes every source say what the case has it say. */
  async function tell(contract: Address, slug: string, one: Case): Promise<void> {
    const { partner, contractBps, isInFile, operatorBps } = one;
    if (contractBps > 0) await contractSays(contract, contractBps);
    if (partner !== null) await partnerSays(contract, partner);
    if (isInFile) await fileSays(contract, slug);
    if (operatorBps !== null) await operatorSays(contract, operatorBps);
  }

  it("is the one that orders are asked for, whatever partner, contract, file and operator say", async () => {
    const cases: Case[] = partnerWords.flatMap((partner) =>
      [0, 350].flatMap((contractBps) =>
        [false, true].flatMap((isInFile) =>
          [null, 0, 120].map((operatorBps) => ({ partner, contractBps, isInFile, operatorBps })),
        ),
      ),
    );
    const addresses = cases.map((_, index) => addressOf(500 + index));
    await appendEvents(
      book.db,
      addresses.map((contract, logIndex) => ({
        ...{ kind: "erc721_transfer" as const, block: block(chainId, 1), logIndex, contract },
        ...{ tokenId: BigInt(logIndex), from: zeroAddress, to: addressOf(9) },
      })),
    );
    for (const [index, one] of cases.entries()) {
      await tell(addresses[index] as Address, `case-${index}`, one);
    }
    await readRoyalties();

    const sources = new Set<string>();
    for (const [index, contract] of addresses.entries()) {
      const source = await expectEqual(contract);
      sources.add(source);
      expect([index, source]).toEqual([index, expectedSource(chainId, cases[index])]);
    }
    expect([...sources].toSorted()).toEqual(["configured", "erc2981", "none", "partner"]);
  });

  it("follows the contract daily, and at once where an order shows that it changed", async () => {
    const contract = addressOf(900);
    await contractSays(contract, 500);
    await appendEvents(book.db, [
      {
        kind: "erc721_transfer",
        block: block(chainId, 2),
        logIndex: 0,
        contract,
        tokenId: 1n,
        from: zeroAddress,
        to: addressOf(9),
      },
    ]);
    await readRoyalties();
    expect(await royaltyOf(contract)).toEqual({
      recipient: recipients.contract,
      bps: 500,
      source: "erc2981",
    });

    await set(contract, recipients.contract, 750);
    await readRoyalties();
    expect((await royaltyOf(contract)).bps).toBe(500);
    now = new Date(now.getTime() + 25 * 60 * 60_000);
    await readRoyalties();
    expect((await royaltyOf(contract)).bps).toBe(750);
    await expectEqual(contract);

    const { punks } = contracts;
    expect((await royaltyOf(punks)).bps).toBe(500);
    const value = concatHex([numberToHex(800, { size: 12 }), recipients.contract]);
    await book.client.setStorageAt({ address: punks, index: numberToHex(6, { size: 32 }), value });
    await book.client.mine({ blocks: 1 });
    const punk = { standard: "erc721", contract: punks, tokenId: 1n } as const;
    const order = await book.actors.alice.lists(punk, { priceWei: parseEther("1") });
    const posted = await book.post("/v1/orders/asks", { chainId, seaport: wireOrder(order) });
    expect(posted).toMatchObject({ success: true });
    await readRoyalties();
    expect(await royaltyOf(punks)).toEqual({
      recipient: recipients.contract,
      bps: 800,
      source: "erc2981",
    });
    await expectEqual(punks);
  });

  it("of a token that has its own creator makes the creator's part of its sales one, and no other", async () => {
    const contract = addressOf(950);
    const [creator, stranger] = [addressOf(0xcafe), addressOf(0x717)];
    await book.client.setCode({ address: contract, bytecode: creatorCode });
    await book.client.mine({ blocks: 1 });
    const soldAt = block(chainId, 3);
    const terms = { chainId, maker: addressOf(300), contract, salt: 1n };
    const sold = givenListing({
      ...{ ...terms, tokenId: BigInt(creator), royaltyWei: 5n * 10n ** 16n },
    });
    const consideration = sold.components.consideration.flatMap((item, index) =>
      index === 0 ? [item, { ...item, recipient: stranger, startAmount: 10n ** 17n }] : [item],
    );
    const tipped = { ...sold, components: { ...sold.components, consideration } };
    await appendEvents(book.db, [
      {
        ...{ kind: "erc721_transfer" as const, block: block(chainId, 2), logIndex: 1, contract },
        ...{ tokenId: 1n, from: zeroAddress, to: addressOf(9) },
      },
      filled(tipped, 1n, { at: soldAt, log: 0 }),
    ]);
    now = new Date((soldAt.timestamp + 60) * 1_000);
    await readRoyalties();
    const { fees } = (await book.get(`/v1/sales?chainId=${chainId}&collection=${contract}`))
      .data[0];
    const kindOf = (one: Address) =>
      fees.find(({ recipient }: { recipient: Address }) => recipient === one)?.kind;
    expect([kindOf(creator), kindOf(stranger)]).toEqual(["royalty", "other"]);
    // The contract's own is still that of its lowest token.
    expect((await royaltyOf(contract)).recipient).toBe(numberToHex(1, { size: 20 }));
  });
});
