import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { ChainId } from "#chains/index.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type InjectedWallet, injectWallet } from "#test/support/chain/injected-wallet.ts";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  type TestBrowser,
} from "#test/support/http/browser.ts";
import {
  mintPunk,
  mintPunks,
  orderRequest,
  type Person,
  type TestChain,
  type TestChains,
  untilDerived,
} from "#test/support/orders/test-chains.ts";

/** The service over its chains, and the browser of its visitors. */
export type Site = { readonly opened: TestChains; readonly testBrowser: TestBrowser };

/** A chain and a width of the screen. */
export type Look = readonly [ChainId, number];

type Visiting = {
  readonly chainId: ChainId;
  readonly width: number;
  readonly person: Person;
  /** Names of further wallets in the browser. */
  readonly others?: readonly string[];
};

export type Visitor = {
  page: Page;
  wallet: InjectedWallet;
  complaints: string[];
  close(): Promise<void>;
};

const chainIds = [33139, 1] as const;

export async function openVisitorOf(
  { opened, testBrowser }: Site,
  { chainId, width, person, others = [] }: Visiting,
): Promise<Visitor> {
  const context = await testBrowser.browser.newContext({ viewport: { width, height: 844 } });
  await context.route(/^https:/, (route) => route.fulfill({ status: 404, body: "" }));
  const ordered = [chainId, ...chainIds.filter((one) => one !== chainId)];
  const chains = ordered.map((one) => opened.chain(one));
  const wallet = await injectWallet(context, chains, [person], others);
  const { page, complaints } = await openPage(context);
  return { page, wallet, complaints, close: () => context.close() };
}

export const sheetOf = (page: Page) => page.getByRole("dialog");
export const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true }).click();

/** An error has what the sheet says instead. */
export async function untilHead(page: Page, name: string | RegExp): Promise<void> {
  const head = sheetOf(page).getByRole("heading", { name });
  await head.waitFor().catch(async () => {
    throw new Error(`no head ${name}: ${await sheetOf(page).innerText()}`);
  });
}

/** Confirms the plan that is shown, and waits for its end. */
export async function carryOut(page: Page): Promise<void> {
  await press(page, "Go on in the wallet");
  await untilHead(page, /: done$/);
}

/** Ids of the orders that the sheet links to. */
export async function allPostedIn(page: Page): Promise<string[]> {
  const links = await sheetOf(page).getByRole("link").all();
  const hrefs = await Promise.all(links.map((link) => link.getAttribute("href")));
  return hrefs.map((href) => {
    const { pathname } = new URL(href ?? "", page.url());
    return decodeURIComponent(pathname.split("/")[2] ?? "");
  });
}

/** The id of the only order that the sheet links to. */
export async function postedIn(page: Page): Promise<string> {
  const [id = "", ...more] = await allPostedIn(page);
  expect(more).toEqual([]);
  return id;
}

export async function openToken(
  page: Page,
  { baseUrl, chainId }: TestChain,
  tokenId: bigint,
  contract: string = contracts.punks,
): Promise<void> {
  await page.goto(`${baseUrl}/collections/${contract}/tokens/${tokenId}?chainId=${chainId}`);
}

/** A token of somebody, as the pages know it. */
export async function newToken(testChain: TestChain, owner: Person) {
  const nft = await mintPunk(testChain, owner);
  await untilDerived(testChain);
  return nft;
}

/** A listing that is valid by the time of the newest block, too. */
export async function newListing(testChain: TestChain, price: string) {
  const nft = await newToken(testChain, "alice");
  const askId = await testChain.trader("alice").lists(orderRequest(nft, price));
  await testChain.client.mine({ blocks: 1 });
  return { nft, askId };
}

/** Many at once: each block is a second of the chain, which must not get ahead of the clock. */
export async function newListings(testChain: TestChain, count: bigint, price: string) {
  await testChain.actors.alice.approves(contracts.punks);
  const nfts = await mintPunks(testChain, "alice", count);
  await untilDerived(testChain);
  const listed = [];
  for (const nft of nfts) {
    const askId = await testChain.trader("alice").lists(orderRequest(nft, price));
    listed.push({ nft, askId });
  }
  await testChain.client.mine({ blocks: 1 });
  return listed;
}

/** The page is loaded again each time the wallet has answered, before it hears of it; a signature's once. */
export function reloadAtAnswers({ page, wallet }: Visitor): void {
  wallet.beforeAnswers(async (kind) => {
    if (kind === "signatures" && wallet.asked.signatures > 1) return;
    await page.reload();
  });
}

/** The plan is in sight, readable by everybody, and within the screen. */
export async function lookAtPlan(
  page: Page,
  name: string,
  texts: readonly string[],
): Promise<void> {
  const head = sheetOf(page).getByText("What can go wrong");
  await head.waitFor().catch(async () => {
    throw new Error(`no plan: ${await sheetOf(page).innerText()}`);
  });
  const shown = await sheetOf(page).innerText();
  for (const text of texts) expect(shown).toContain(text);
  expect(await findBarriers(page)).toEqual([]);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await keepPicture(page, name);
}

/** Broken media are not the page's fault. */
export const own = (complaints: readonly string[]) =>
  complaints.filter((text) => !/Failed to load resource|net::ERR/.test(text));

/** Whether the conduit may move an owner's punks. */
export const readApproval = ({ client }: TestChain, owner: `0x${string}`) =>
  client.readContract({
    address: contracts.punks,
    abi: [
      {
        type: "function",
        name: "isApprovedForAll",
        stateMutability: "view",
        inputs: [
          { type: "address", name: "owner" },
          { type: "address", name: "operator" },
        ],
        outputs: [{ type: "bool" }],
      },
    ] as const,
    functionName: "isApprovedForAll",
    args: [owner, "0x1E0049783F008A0085193E00003D00cd54003c71"],
  });
