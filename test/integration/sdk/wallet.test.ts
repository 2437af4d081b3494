import { afterAll, beforeAll, expect, it } from "vitest";
import {
  openTestChains,
  type TestChain,
  type TestChains,
} from "../../support/orders/test-chains.ts";
import { describeAlteredAnswers } from "./altered.ts";
import { openBrowserRunner } from "./consumers/browser-runner.ts";
import { openNodeRunner } from "./consumers/node-runner.ts";
import { describePackedClient } from "./consumers/packed.ts";
import { type PackedClient, packClient } from "./consumers/packed-client.ts";
import { describeReadingRecipes, describeWalletRecipes, recipes } from "./consumers/recipes.ts";
import { describeReloads } from "./consumers/reloads.ts";
import { describeGas } from "./gas.ts";
import { describeInterruptions } from "./interruptions.ts";
import { describeTrading } from "./trading.ts";

const chainId = 33139;
let testChains: TestChains;
let client: PackedClient;

beforeAll(async () => {
  testChains = await openTestChains([chainId]);
  client = await packClient();
});
afterAll(async () => {
  await testChains?.close();
  await client?.close();
});

const openChain = (): TestChain => testChains.chain(chainId);
const openClient = (): PackedClient => client;
const openBrowser = () => openBrowserRunner(client, openChain());

// One service and one packed client for all of them.
describeTrading(openChain);
describeGas(openChain);
describeInterruptions(openChain);
describeAlteredAnswers(openChain);
describePackedClient(openClient, openChain);
describeWalletRecipes("Node", {
  openChain,
  openRunner: async () => openNodeRunner(client, openChain()),
  cast: { lister: "grace", sweeper: "frank" },
});
describeWalletRecipes("Chromium", {
  openChain,
  openRunner: openBrowser,
  cast: { lister: "erin", sweeper: "bob" },
});
describeReloads(openChain, openBrowser);
describeReadingRecipes(openClient, openChain, openNodeRunner);

it("every recipe of the documents is run", () => {
  const run = Object.values(recipes).flat();
  expect(client.recipes.toSorted()).toEqual(run.toSorted());
});
