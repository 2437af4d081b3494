import { sql } from "kysely";
import { pino } from "pino";
import { encodeFunctionData, type Hex, parseAbi, parseEther, toFunctionSelector } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { openHeadWatch } from "#jobs/orders/head-watch.ts";
import { contractRechecks } from "#jobs/orders/recheck-contracts.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";
import { changeWalletOwner } from "#test/truth/players.ts";

const chainId = 33139;
const { alice, bob } = accounts;
let stand: IntakeFixture;
const running: { ending: AbortController; done: Promise<void> }[] = [];

beforeAll(async () => {
  stand = await openIntakeFixture(chainId);
  const { wallet, carol, dave } = stand.market.actors;
  for (const tokenId of walletIds) await wallet.mints(punk(tokenId));
  await wallet.approves(contracts.punks);
  await wallet.wraps(parseEther("5"));
  await wallet.allows(parseEther("5"));
  for (const tokenId of [1n, 2n]) await carol.mints(guarded(tokenId));
  await dave.mints(guarded(3n));
  for (const seller of [carol, dave]) await seller.approves(contracts.guarded);
  await conduitIsBlocked(false);
  await stand.record();
});
afterAll(() => stand?.close());
afterEach(async () => {
  for (const { ending } of running) ending.abort();
  await Promise.all(running.splice(0).map(({ done }) => done));
  stand.node.before = async () => {};
});

const walletIds = [70_001n, 70_002n, 70_003n];
const guarded = (tokenId: bigint) =>
  ({ standard: "erc721", contract: contracts.guarded, tokenId: 80_000n + tokenId }) as const;

/** The job, as one process of the jobs role runs it. */
function watch(
  limits?: Parameters<typeof contractRechecks>[0]["limits"],
  changing = createChangingContracts(20),
) {
  const ending = new AbortController();
  const { signal } = ending;
  const logger = pino({ level: "silent" });
  const client = openChainClient({ chainId, rpcUrls: [stand.node.url], timeoutMs: 2_000 });
  const job = contractRechecks({
    db: stand.db,
    client,
    changing,
    head: openHeadWatch({ client, wsUrl: null, logger, signal }),
    changeSignal: createSignal(),
    logger,
    ...(limits === undefined ? {} : { limits }),
  });
  const done = runJobs(job, { logger, signal });
  const one = { ending, done };
  running.push(one);
  return async () => {
    ending.abort();
    await done;
  };
}

type Side = "listings" | "bids";

async function submit(side: Side, order: SignedOrder): Promise<string> {
  const kind = side === "listings" ? "asks" : "bids";
  const answer = await stand.post(`/v1/orders/${kind}`, { chainId, seaport: wireOrder(order) });
  expect(answer, JSON.stringify(answer)).toMatchObject({ status: 201 });
  return `/v1/${side}/mkt-${orderHash(order.components)}?chainId=${chainId}`;
}

async function stateOf(path: string): Promise<string> {
  const { body } = await stand.api.get(path);
  const { status, invalidReason, inactiveReason } = (body as { data: Record<string, string> }).data;
  return [status, invalidReason ?? inactiveReason].filter(Boolean).join(" ");
}

const untilIs = (path: string, state: string) =>
  until(`${path} to be ${state}`, async () => (await stateOf(path)) === state);

async function isOwnedBy(to: typeof alice, from: typeof alice): Promise<void> {
  const { client } = stand.market;
  await changeWalletOwner({ client } as never, from.address, to.address);
  await client.mine({ blocks: 1 });
}

async function conduitIsBlocked(blocked: boolean): Promise<void> {
  const data = encodeFunctionData({
    abi: parseAbi(["function setBlocked(address operator, bool blocked)"]),
    args: [commonConduit.address, blocked],
  });
  await sendAsMined(stand.market.client).send(accounts.erin, { to: contracts.validator, data });
}

async function countOf(...kinds: FactKind[]): Promise<number> {
  const numbers = kinds.map((kind) => factKind[kind]);
  const { rows } = await sql`
    select from log.fact where kind = any (${numbers}::smallint[])`.execute(stand.db);
  return rows.length;
}

/** Requests about signatures that the node gets, and about how many. */
function countRounds() {
  const rounds: { at: number; signatures: number }[] = [];
  stand.node.before = async (calls) => {
    const signatures = calls.filter(isOfSignature).length;
    if (signatures > 0) rounds.push({ at: performance.now(), signatures });
  };
  return rounds;
}

const validate = toFunctionSelector(
  "validate(((address,address,(uint8,address,uint256,uint256,uint256)[],(uint8,address,uint256,uint256,uint256,address)[],uint8,uint256,uint256,bytes32,uint256,bytes32,uint256),bytes)[])",
);
const isOfSignature = ({ params }: { params: readonly unknown[] }) =>
  JSON.stringify(params).includes(validate);

describe("orders that a contract signs", () => {
  const paths: string[] = [];
  const areAll = async (state: string) => {
    for (const path of paths) await untilIs(path, state);
  };
  beforeAll(async () => {
    const { wallet } = stand.market.actors;
    for (const tokenId of walletIds) {
      const order = await wallet.lists(punk(tokenId), { priceWei: 10n ** 17n });
      paths.push(await submit("listings", order));
    }
    paths.push(await submit("bids", await wallet.offers(punk(1n), { priceWei: 10n ** 17n })));
  });

  it("are known as such, and those that their makers sign are not", async () => {
    const { alice } = stand.market.actors;
    await submit("listings", await alice.lists(punk(1n), { priceWei: 10n ** 17n }));

    const { rows } = await sql<{ isContractSigned: boolean; isWallet: boolean }>`
      select is_contract_signed as "isContractSigned",
             maker = decode(${contracts.smartWallet.slice(2)}, 'hex') as "isWallet"
      from (select is_contract_signed, maker from listings.listing
            union all select is_contract_signed, maker from bids.bid) o`.execute(stand.db);
    expect(rows).toHaveLength(paths.length + 1);
    expect(rows.every(({ isContractSigned, isWallet }) => isContractSigned === isWallet)).toBe(
      true,
    );
  });

  it("follow the contract's mind with the next block, though no event tells of it", async () => {
    watch();
    const facts = await countOf("signature_read");
    await isOwnedBy(bob, alice);
    await areAll("inactive contract_signature_invalid");
    const mined = await stand.market.client.getBlockNumber();
    await isOwnedBy(alice, bob);
    await areAll("active");

    expect(await stand.market.client.getBlockNumber()).toBe(mined + 1n);
    expect(await countOf("signature_read")).toBe(facts + 2 * paths.length);
  });

  it("leave no fact while the contract stands by them, and cost nothing without a new block", async () => {
    const rounds = countRounds();
    const facts = await readLogHead(stand.db);
    watch();
    await until("the first look", async () => rounds.length > 0);
    await stand.market.client.mine({ blocks: 1 });
    await until("the next one", async () => rounds.length > 1);
    const looks = stand.node.requests;
    await until("more looks at the head", async () => stand.node.requests > looks + 3);

    expect(rounds.map(({ signatures }) => signatures)).toEqual([paths.length, paths.length]);
    expect(await readLogHead(stand.db)).toBe(facts);
  });

  it("are asked about so many in a second at most, after a quiet time four times as many, and all of them in turn", async () => {
    const rounds = countRounds();
    watch({ signed: 3, restricted: 1, cheapest: 1, approvedAlone: 1 });
    await isOwnedBy(bob, alice);
    await areAll("inactive contract_signature_invalid");
    await isOwnedBy(alice, bob);
    await areAll("active");

    expect(Math.max(...rounds.map(({ signatures }) => signatures))).toBe(3);
    const seconds = ((rounds.at(-1)?.at ?? 0) - (rounds[0]?.at ?? 0)) / 1_000;
    expect(rounds.length).toBeLessThanOrEqual(seconds + 5);
  });

  it("follow whether the contracts that they pay take it", async () => {
    watch();
    const address = accounts.feeRecipient;
    const [bid = "", ...listings] = [...paths].reverse();
    const follow = async (bytecode: Hex, state: string) => {
      await stand.market.client.setCode({ address, bytecode });
      await stand.market.client.mine({ blocks: 1 });
      for (const path of listings) await untilIs(path, state);
    };
    await follow("0x60006000fd", "inactive transfer_restricted");
    expect(await stateOf(bid)).toBe("active");
    await follow("0x", "active");
    expect(await countOf("recipients_read")).toBeGreaterThanOrEqual(2 * listings.length);
  });

  it("leave few facts where the contract changes its mind with each block", async () => {
    let at = Date.now();
    watch(
      undefined,
      createChangingContracts(3, () => at),
    );
    const facts = await countOf("signature_read");
    const factsOf = (changes: number) => facts + changes * paths.length;
    const rounds = countRounds();
    const change = async (nth: number) => {
      await isOwnedBy(nth % 2 === 0 ? bob : alice, nth % 2 === 0 ? alice : bob);
    };
    for (let nth = 0; nth < 4; nth += 1) {
      await change(nth);
      await areAll(nth % 2 === 0 ? "inactive contract_signature_invalid" : "active");
    }
    expect(await countOf("signature_read")).toBe(factsOf(4));
    const paused = rounds.length;
    for (let nth = 4; nth < 9; nth += 1) await change(nth);
    await stand.market.client.mine({ blocks: 1 });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect([rounds.length, await countOf("signature_read")]).toEqual([paused, factsOf(4)]);

    // An order of the contract's is refused meanwhile: whoever submits one has the chain read anew.
    const { wallet } = stand.market.actors;
    const order = await wallet.lists(punk(70_001n), { priceWei: 2n * 10n ** 17n });
    const refused = { chainId, seaport: wireOrder(order) };
    expect(await stand.post("/v1/orders/asks", refused)).toMatchObject({
      ...{ status: 422, code: "contract_signature_invalid" },
    });

    at += 61_000;
    await stand.market.client.mine({ blocks: 1 });
    await areAll("inactive contract_signature_invalid");
    await change(9);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await countOf("signature_read")).toBe(factsOf(5));
    at += 121_000;
    await stand.market.client.mine({ blocks: 1 });
    await areAll("active");
  });

  it("are found out by the next process, where one died before it could ask", async () => {
    let isReached = false;
    stand.node.before = async (calls) => {
      if (!calls.some(isOfSignature)) return;
      isReached = true;
      await new Promise(() => {});
    };
    const stop = watch();
    await isOwnedBy(bob, alice);
    await until("the question", async () => isReached);
    void stop();
    expect(await stateOf(paths[0] ?? "")).toBe("active");
    stand.node.before = async () => {};
    watch();
    await areAll("inactive contract_signature_invalid");
    await isOwnedBy(alice, bob);
    await areAll("active");
  });
});

describe("listings of a collection that may refuse the conduit", () => {
  it("follow its mind with the next block, those that could not be asked about then as well", async () => {
    const { carol, dave } = stand.market.actors;
    const paths: string[] = [];
    for (const [tokenId, seller] of [
      [1n, carol],
      [2n, carol],
      [3n, dave],
    ] as const) {
      const order = await seller.lists(guarded(tokenId), { priceWei: tokenId * 10n ** 17n });
      paths.push(await submit("listings", order));
    }
    const [first = "", second = "", third = ""] = paths;
    watch();
    await conduitIsBlocked(true);
    await stand.record();
    for (const path of paths) await untilIs(path, "inactive transfer_restricted");
    await dave.revokes(contracts.guarded);
    await stand.record();
    await untilIs(third, "inactive not_approved");
    await conduitIsBlocked(false);
    for (const path of [first, second]) await untilIs(path, "active");
    await dave.approves(contracts.guarded);
    await stand.record();
    await untilIs(third, "active");
  });
});
