import { afterAll, beforeAll, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import {
  openTestChains,
  type TestChain,
  type TestChains,
} from "#test/support/orders/test-chains.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { describeAlteredAnswers } from "./altered.ts";
import { openBrowserRunner } from "./consumers/browser-runner.ts";
import { openNodeRunner } from "./consumers/node-runner.ts";
import { describePackedClient } from "./consumers/packed.ts";
import { type PackedClient, packClient } from "./consumers/packed-client.ts";
import {
  describeReadingRecipes,
  describeWalletRecipes,
  recipes,
  webhookPort,
} from "./consumers/recipes.ts";
import { describeReloads } from "./consumers/reloads.ts";
import { describeGas } from "./gas.ts";
import { describeInterruptions } from "./interruptions.ts";
import { describePartnerTrading, type Partners } from "./partner-trading.ts";
import { describeTrading } from "./trading.ts";

const chainId = 33139;
let testChains: TestChains;
let client: PackedClient;
let partners: Partners;

beforeAll(async () => {
  testChains = await openTestChains([chainId], async (chains) => {
    partners = {
      opensea: await openPartnerA({ chains }),
      magiceden: await openPartnerB({ chains }),
    };
    return {
      PARTNER_A_URL: partners.opensea.url,
      PARTNER_B_URL: partners.magiceden.url,
      PARTNER_A_RATE_LIMIT: "6000",
      PARTNER_B_RATE_LIMIT: "6000",
      PARTNER_INTERVAL_SECONDS: "1",
      WEBHOOK_ALLOWED_ORIGINS: `http://127.0.0.1:${webhookPort}`,
    };
  });
  client = await packClient();
});
afterAll(async () => {
  await testChains?.close();
  await Promise.all([partners?.opensea.close(), partners?.magiceden.close()]);
  await client?.close();
});

const openChain = (): TestChain => testChains.chain(chainId);
const openClient = (): PackedClient => client;
const openBrowser = () => openBrowserRunner(client, openChain());

// One service and one packed client for all of them.
describeTrading(openChain);
describeGas(openChain);
describePartnerTrading(openChain, () => partners);
describeInterruptions(openChain);
describeAlteredAnswers(openChain);
describePackedClient(openClient, openChain);
const runners: [where: string, Parameters<typeof describeWalletRecipes>[1]][] = [
  [
    "Node",
    {
      openChain,
      openRunner: async () => openNodeRunner(client, openChain()),
      cast: { lister: "grace", sweeper: "frank", maker: "dave", quiet: contracts.familyOne },
    },
  ],
  [
    "Chromium",
    {
      openChain,
      openRunner: openBrowser,
      cast: { lister: "erin", sweeper: "bob", maker: "frank", quiet: contracts.burnable },
    },
  ],
];
for (const [where, opening] of seedsOf(runners)) describeWalletRecipes(where, opening);
describeReloads(openChain, openBrowser);
describeReadingRecipes(openClient, openChain, openNodeRunner);

it("every recipe of the documents is run", () => {
  const run = Object.values(recipes).flat();
  expect(client.recipes.toSorted()).toEqual(run.toSorted());
});
