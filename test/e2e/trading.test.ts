import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { findBarriers, startBrowser, type TestBrowser } from "../support/http/browser.ts";
import {
  openTestChains,
  orderRequest,
  type Person,
  type TestChain,
  type TestChains,
  untilDerived,
} from "../support/orders/test-chains.ts";
import { seedsOf } from "../support/thoroughness.ts";
import { describeBook } from "./trading/book.ts";
import { describeOwners } from "./trading/owners.ts";
import { describeSeveral } from "./trading/several.ts";
import { describeTogether } from "./trading/together.ts";
import {
  carryOut,
  lookAtPlan,
  newListing,
  newToken,
  openToken,
  openVisitorOf,
  own,
  postedIn,
  press,
  reloadAtAnswers,
  sheetOf,
  untilHead,
} from "./trading/visitor.ts";
import { describeWallets } from "./trading/wallets.ts";

const chainIds = [33139, 1] as const;
let opened: TestChains;
let testBrowser: TestBrowser;

/** One service for all of them: a start costs more than their trades. */
beforeAll(async () => {
  [opened, testBrowser] = await Promise.all([openTestChains(chainIds), startBrowser()]);
});
afterAll(async () => {
  await testBrowser?.close();
  await opened?.close();
});

/** A phone and a desktop, each on each chain; one chain each with `npm test`. */
const looks: readonly (readonly [ChainId, number])[] = [
  [33139, 390],
  [1, 1440],
  [33139, 1440],
  [1, 390],
];
const fewLooks = () => seedsOf(looks, 2);

const openVisitor = (chainId: ChainId, width: number, person: Person) =>
  openVisitorOf({ opened, testBrowser }, { chainId, width, person });

describe("with a wallet in the browser", () => {
  it.each(fewLooks())("on chain %i at %i px a token is bought", async (chainId, width) => {
    const testChain = opened.chain(chainId);
    const { nft, askId } = await newListing(testChain, "1");
    const visitor = await openVisitor(chainId, width, "bob");
    const { page, wallet } = visitor;
    await openToken(page, testChain, nft.tokenId);
    await press(page, "Buy");
    await lookAtPlan(page, `trading-buy-${width}`, [
      "You pay",
      "The seller receives",
      "Royalty to",
      accounts.alice.address.toLowerCase(),
      `token ${nft.tokenId}`,
    ]);
    reloadAtAnswers(visitor);
    await press(page, "Go on in the wallet");
    await untilHead(page, /: done$/);
    expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
    expect(await testChain.trader("alice").statusOf("listings", askId)).toBe("filled");
    expect(own(visitor.complaints)).toEqual([]);
    await visitor.close();
  });

  it.each(fewLooks())("on chain %i at %i px a token is listed", async (chainId, width) => {
    const testChain = opened.chain(chainId);
    const nft = await newToken(testChain, "grace");
    await testChain.actors.grace.revokes(contracts.punks);
    const visitor = await openVisitor(chainId, width, "grace");
    const { page, wallet } = visitor;
    await openToken(page, testChain, nft.tokenId);
    await press(page, "List for sale");
    await page.getByLabel("Price of a unit").fill("1.5");
    await page.getByLabel("Days").fill("7");
    await press(page, "Make the plan");
    await lookAtPlan(page, `trading-list-${width}`, ["You receive in all", "Fee or royalty to"]);
    reloadAtAnswers(visitor);
    await press(page, "Go on in the wallet");
    await untilHead(page, /: done$/);
    // A signature that the page did not hear of is asked for again, for the same order.
    expect(wallet.asked).toEqual({ signatures: 2, transactions: 1 });
    const askId = await postedIn(page);
    expect(await testChain.trader("grace").statusOf("listings", askId)).toBe("active");
    expect(own(visitor.complaints)).toEqual([]);
    await visitor.close();
  });
});

describe("with a wallet, the other side of the book:", () => {
  let testChain: TestChain;
  const chainId = chainIds[1];
  beforeAll(() => {
    testChain = opened.chain(chainId);
  });

  it("an offer is made on a token, and its owner accepts it", async () => {
    const nft = await newToken(testChain, "carol");
    await testChain.actors.carol.revokes(contracts.punks);
    await testChain.actors.erin.wraps(parseEther("5"));
    await testChain.actors.erin.allows(0n);
    const bidder = await openVisitor(chainId, 390, "erin");
    await openToken(bidder.page, testChain, nft.tokenId);
    await press(bidder.page, "Make an offer");
    await bidder.page.getByLabel("Price of a unit").fill("3.5");
    await press(bidder.page, "Make the plan");
    await lookAtPlan(bidder.page, "trading-offer", ["You pay for one", "3.5 WETH"]);
    reloadAtAnswers(bidder);
    await carryOut(bidder.page);
    const bidId = await postedIn(bidder.page);
    await bidder.close();

    const seller = await openVisitor(chainId, 390, "carol");
    await untilDerived(testChain);
    await openToken(seller.page, testChain, nft.tokenId);
    await press(seller.page, "Accept the best offer");
    await lookAtPlan(seller.page, "trading-accept", ["You give", "You receive"]);
    reloadAtAnswers(seller);
    await carryOut(seller.page);
    expect(seller.wallet.asked).toEqual({ signatures: 0, transactions: 2 });
    expect(await testChain.trader("carol").statusOf("bids", bidId)).toBe("filled");
    expect(own([...bidder.complaints, ...seller.complaints])).toEqual([]);
    await seller.close();
  });

  it("an offer on a collection is accepted with a token of one's own", async () => {
    const nft = await newToken(testChain, "carol");
    await testChain.actors.erin.wraps(parseEther("5"));
    const bidder = await openVisitor(chainId, 1440, "erin");
    await bidder.page.goto(
      `${testChain.baseUrl}/collections/${contracts.punks}?chainId=${chainId}`,
    );
    await press(bidder.page, "Make an offer");
    await bidder.page.getByLabel("Price of a unit").fill("0.9");
    await press(bidder.page, "Make the plan");
    await lookAtPlan(bidder.page, "trading-collection-offer", ["any token"]);
    await carryOut(bidder.page);
    const bidId = await postedIn(bidder.page);
    await bidder.close();

    const seller = await openVisitor(chainId, 1440, "carol");
    await seller.page.goto(`${testChain.baseUrl}/bids/${bidId}?chainId=${chainId}`);
    await press(seller.page, "Accept it");
    await seller.page.getByLabel("Id of your token").fill(`${nft.tokenId}`);
    await press(seller.page, "Make the plan");
    await lookAtPlan(seller.page, "trading-accept-own", [`token ${nft.tokenId}`]);
    await carryOut(seller.page);
    expect(await testChain.trader("carol").statusOf("bids", bidId)).toBe("filled");
    await seller.close();
  });

  it("the cheapest of a collection are bought together", async () => {
    const listed = [await newListing(testChain, "0.001"), await newListing(testChain, "0.001")];
    const { page, wallet, close } = await openVisitor(chainId, 1440, "bob");
    await page.goto(`${testChain.baseUrl}/collections/${contracts.punks}?chainId=${chainId}`);
    await press(page, "Buy the cheapest");
    await page.getByLabel("How many").fill("2");
    await page.getByLabel("At most, in all").fill("0.01");
    await press(page, "Make the plan");
    const tokens = listed.map(({ nft }) => `token ${nft.tokenId}`);
    await lookAtPlan(page, "trading-sweep", tokens);
    await carryOut(page);
    const bob = testChain.trader("bob");
    for (const { askId } of listed) expect(await bob.statusOf("listings", askId)).toBe("filled");
    expect(wallet.asked).toEqual({ signatures: 0, transactions: 1 });
    await close();
  });
});

describe("what goes wrong ends in words and a way on:", () => {
  let testChain: TestChain;
  const chainId = chainIds[0];
  beforeAll(() => {
    testChain = opened.chain(chainId);
  });

  const openListed = async (price: string, person: Person = "bob") => {
    const { nft, askId } = await newListing(testChain, price);
    const visitor = await openVisitor(chainId, 390, person);
    await openToken(visitor.page, testChain, nft.tokenId);
    return { ...visitor, askId, nft };
  };

  it("a refusal, after which the same is tried again", async () => {
    const { page, wallet, close } = await openListed("1");
    await press(page, "Buy");
    wallet.refuseNext();
    await press(page, "Go on in the wallet");
    await untilHead(page, "You said no in the wallet");
    expect(await findBarriers(page)).toEqual([]);
    await press(page, "Try again");
    await untilHead(page, /: done$/);
    expect(wallet.asked.transactions).toBe(1);
    await close();
  });

  it("another chain, which the wallet does not know yet", async () => {
    const { page, wallet, close } = await openListed("1");
    wallet.goTo(1, true);
    await press(page, "Buy");
    await untilHead(page, "The wallet is on another chain");
    expect(await sheetOf(page).innerText()).toContain("It is on Ethereum");
    await press(page, /^Switch to/);
    await sheetOf(page).getByText("What can go wrong").waitFor();
    await press(page, "Go on in the wallet");
    await untilHead(page, /: done$/);
    await close();
  });

  it("a price that is not the page's any more", async () => {
    const { page, askId, nft, close } = await openListed("1");
    const alice = testChain.trader("alice");
    await alice.cancels("asks", askId);
    await untilDerived(testChain);
    await alice.lists(orderRequest(nft, "2"));
    await press(page, "Buy");
    await untilHead(page, "The price has moved");
    await press(page, "Show the new price");
    await lookAtPlan(page, "trading-moved", ["2 APE"]);
    await close();
  });

  it("too little money", async () => {
    const { client } = testChain;
    const { address } = accounts.frank;
    await client.setBalance({ address, value: parseEther("10") });
    const { page, wallet, close } = await openListed("30", "frank");
    await press(page, "Buy");
    await lookAtPlan(page, "trading-missing", ["Your wallet has 10 APE, and this needs 30."]);
    expect(wallet.asked).toEqual({ signatures: 0, transactions: 0 });
    await client.setBalance({ address, value: parseEther("10000") });
    await press(page, "Look again");
    await press(page, "Go on in the wallet");
    await untilHead(page, /: done$/);
    await close();
  });
});

describeBook(() => ({ opened, testBrowser }), fewLooks);
describeSeveral(() => ({ opened, testBrowser }), fewLooks);
describeTogether(() => ({ opened, testBrowser }));
describeOwners(() => ({ opened, testBrowser }));
describeWallets(() => ({ opened, testBrowser }));
