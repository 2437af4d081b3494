import { setTimeout as delay } from "node:timers/promises";
import { Interface } from "ethers";
import { type Address, type Hex, numberToHex, parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seaportFunctions } from "#abis/seaport.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import { defaultQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { everybodyOwns } from "#test/support/orders/everybody-owns.ts";
import {
  type IntakeFixture,
  openIntakeFixture,
  wireOrder,
} from "#test/support/orders/intake-fixture.ts";
import { newcomer } from "#test/support/orders/newcomer.ts";
import { fakeContracts, repeatAttacks } from "#test/support/orders/repeated-attacks.ts";
import { punk } from "#test/support/orders/stocked-tokens.ts";
import { postFrom, signedByStranger } from "#test/support/orders/strangers.ts";
import { walking } from "#test/support/orders/walking-contract.ts";

/** How long the attacks go on. */
const seconds = Number(process.env.ATTACK_SECONDS ?? 20);
const chainId = 33139;
const pauseMs = 1_000;
const costly: Address = numberToHex(0x5ba5ff, { size: 20 });

let stand: IntakeFixture;
beforeAll(async () => {
  // The quotas of the service, and not the wide ones of other tests.
  stand = await openIntakeFixture(chainId, {}, defaultQuotas);
  const { client } = stand.market;
  await client.setCode({ address: costly, bytecode: walking });
  for (const address of fakeContracts) await client.setCode({ address, bytecode: everybodyOwns });
});
afterAll(() => stand?.close());

const marketOf = () => {
  const { client } = stand.market;
  return {
    chainId,
    client,
    sending: sendAsMined(client),
    random: seededRandom(Date.now()),
  } as const;
};
type Newcomer = Awaited<ReturnType<typeof newcomer>>;

const encoder = new Interface(JSON.stringify(seaportFunctions));

type Step = "list" | "buy" | "offer" | "accept" | "list a costly contract" | "buy of it";

/** A newcomer lists, another buys it, offers for a second token, and the first accepts: each at an address of its own. */
async function trade(visit: number, refusals: string[], times: Map<Step, number[]>): Promise<void> {
  const seller = await newcomer(marketOf());
  const buyer = await newcomer(marketOf());
  const [from, to] = [`127.0.4.${(visit % 250) + 1}`, `127.0.5.${(visit % 250) + 1}`];
  const [listed, wanted] = [punk(BigInt(100_000 + 2 * visit)), punk(BigInt(100_001 + 2 * visit))];

  async function ask(step: Step, address: string, path: string, body: unknown) {
    const begin = performance.now();
    const answer = await postFrom(address, stand.api.url + path, body);
    times.set(step, [...(times.get(step) ?? []), performance.now() - begin]);
    if (answer.status >= 300) refusals.push(`${step}: ${answer.status} ${answer.code}`);
    return answer.status >= 300 ? undefined : (answer.data as unknown as Record<string, unknown>);
  }
  const submit = (step: Step, address: string, side: "asks" | "bids", order: SignedOrder) =>
    ask(step, address, `/v1/orders/${side}`, { chainId, seaport: wireOrder(order) });
  async function send(step: Step, by: Newcomer, data: Record<string, unknown> | undefined) {
    if (data === undefined) return;
    const receipt = await stand.market.client.sendTransactionSync({
      ...{ account: by.account, chain: stand.market.client.chain, to: data.to as Address },
      ...{ data: calldataOf(data), value: BigInt(String(data.value)), gas: 1_500_000n },
    });
    if (receipt.status !== "success") refusals.push(`${step}: reverted`);
  }

  await seller.mints(listed);
  await seller.mints(wanted);
  await seller.approves(contracts.punks);
  await buyer.wraps(parseEther("1"));
  await buyer.allows(parseEther("1"));

  const order = await seller.lists(listed, { priceWei: parseEther("0.5") });
  const listing = await submit("list", from, "asks", order);
  const purchase = `/v1/listings/${listing?.askId}/buy-data`;
  await send(
    "buy",
    buyer,
    listing && (await ask("buy", to, purchase, { chainId, buyer: buyer.address })),
  );

  const offer = await buyer.offers(wanted, { priceWei: parseEther("0.3") });
  const bid = await submit("offer", to, "bids", offer);
  const acceptance = { chainId, fulfiller: seller.address };
  const path = `/v1/bids/${bid?.bidId}/accept-data`;
  await send("accept", seller, bid && (await ask("accept", from, path, acceptance)));

  const tokenId = (maker: Address) => BigInt(maker);
  const ofCostly = await signedByStranger(chainId, "ask", {
    ...{ contract: costly, tokenId, priceWei: parseEther("0.1") },
  });
  const other = await submit("list a costly contract", from, "asks", ofCostly);
  if (other !== undefined)
    await ask("buy of it", to, `/v1/listings/${other.askId}/buy-data`, {
      chainId,
      buyer: buyer.address,
    });
}

const calldataOf = (data: Record<string, unknown>): Hex =>
  typeof data.data === "string"
    ? (data.data as Hex)
    : (encoder.encodeFunctionData(String(data.method), [data.basicOrderParameters]) as Hex);

it(`honest newcomers list, buy, offer and accept while strangers attack for ${seconds} seconds`, {
  timeout: (seconds + 600) * 1_000,
}, async () => {
  const refusals: string[] = [];
  const times = new Map<Step, number[]>();
  const attack = new AbortController();
  const targets = { collection: contracts.punks, costly, fakes: fakeContracts };
  const attacking = repeatAttacks(stand, marketOf(), targets, attack.signal);
  const end = performance.now() + seconds * 1_000;
  let visits = 0;
  for (; performance.now() < end; visits += 1) {
    await trade(visits, refusals, times);
    await delay(pauseMs);
  }
  attack.abort();
  const answers = await attacking;

  process.stdout.write(`${JSON.stringify(figuresOf(visits, times, answers, refusals))}\n`);
  expect(refusals).toEqual([]);
  expect(visits).toBeGreaterThan(0);
  expect(answers["dust offers: accepted"]).toBeGreaterThan(0);
  expect(answers["forged offers of costly ids: bad_signature"]).toBeGreaterThan(0);
});

function figuresOf(
  visits: number,
  times: ReadonlyMap<Step, readonly number[]>,
  answers: Record<string, number>,
  refusals: readonly string[],
) {
  const steps = [...times].map(([step, all]) => {
    const sorted = all.toSorted((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
    return [step, { requests: all.length, p50: at(0.5), p95: at(0.95), slowest: at(1) }] as const;
  });
  return { seconds, visits, steps: Object.fromEntries(steps), answers, refusals };
}
