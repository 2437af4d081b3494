import type { Browser, BrowserContext, Page } from "playwright-core";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type InjectedWallet, injectWallet } from "#test/support/chain/injected-wallet.ts";
import { openPage, startBrowser } from "#test/support/http/browser.ts";
import type { Person, TestChain } from "#test/support/orders/test-chains.ts";
import type { PackedClient } from "./packed-client.ts";
import { servePages } from "./page-server.ts";
import type { RecipeRunner } from "./recipe-runner.ts";

export type WalletPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly wallet: InjectedWallet;
  /** Errors, warnings and breaches of the policy that the page's console names. */
  readonly complaints: readonly string[];
};

export type BrowserRunner = RecipeRunner & {
  /** A page with the wallet of some persons. */
  open(people: readonly Person[], settings?: Record<string, string>): Promise<WalletPage>;
};

/** Recipes as modules of a page in Chromium, whose wallet is injected. */
export async function openBrowserRunner(
  client: PackedClient,
  testChain: TestChain,
): Promise<BrowserRunner> {
  const { baseUrl, rpcUrl } = testChain;
  const server = await servePages(client, [baseUrl, rpcUrl]);
  const { browser, close } = await startBrowser();
  const open = (people: readonly Person[], settings: Record<string, string> = {}) =>
    openWalletPage(browser, { testChain, people, settings, url: server.url });
  return {
    open,
    async start(recipe, people, settings) {
      const { page, context, complaints } = await open(people, settings);
      let printed = "";
      page.on("console", (message) => {
        printed += `${message.text()}\n`;
      });
      const ended = page.evaluate(`import("/recipes/${recipe}.js").then(() => undefined)`);
      const closed = ended.then(async () => {
        await context.close();
        if (complaints.length > 0) throw new Error(complaints.join("\n"));
      });
      closed.catch(() => undefined);
      return { output: () => printed, ended: closed, stop: () => context.close() };
    },
    async close() {
      await close();
      await server.close();
    },
  };
}

type Opening = {
  testChain: TestChain;
  people: readonly Person[];
  settings: Record<string, string>;
  url: string;
};

async function openWalletPage(
  browser: Browser,
  { testChain, people, settings, url }: Opening,
): Promise<WalletPage> {
  const { baseUrl, rpcUrl } = testChain;
  const context = await browser.newContext();
  const wallet = await injectWallet(context, [testChain], people);
  const { page, complaints } = await openPage(context);
  const all = { MARKET_URL: baseUrl, RPC_URL: rpcUrl, COLLECTION: contracts.punks, ...settings };
  await page.goto(`${url}?${new URLSearchParams(all)}`);
  return { page, context, wallet, complaints };
}
