import { type Address, numberToHex, parseEther } from "viem";
import type { MarketContext } from "#devnet/market/signer.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { type IntakeFixture, wireOrder } from "./intake-fixture.ts";
import { newcomer } from "./newcomer.ts";
import { postFrom, signedByStranger } from "./strangers.ts";

type Side = "asks" | "bids";
type Attack = { readonly name: string; readonly round: () => Promise<void> };

export type AttackTargets = {
  /** Of whose tokens nothing is known to be wrong. */
  readonly collection: Address;
  /** Whose ids cost as much as the bytes above an owner's address say. */
  readonly costly: Address;
  /** That take everybody for an owner. */
  readonly fakes: readonly Address[];
};

/** Orders of one bulk request, and addresses that they come from in turn. */
const offersAtOnce = 50;
const forgedAtOnce = 16;
const addresses = 16;
const dustWei = 10_000n;

/**
 * The two findings of the security review that stopped others' trade, one request after the other until `signal`: offers
 * of next to nothing by fresh wallets, listings by keys that nobody has seen, and orders without a signature of their
 * maker's over ids that are costly. Returns how often each answer was given.
 */
export async function repeatAttacks(
  stand: IntakeFixture,
  market: MarketContext,
  { collection, costly, fakes }: AttackTargets,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const { chainId } = stand;
  const answers: Record<string, number> = {};
  let requests = 0;

  async function submit(name: string, side: Side, orders: readonly SignedOrder[]): Promise<void> {
    requests += 1;
    const from = `127.0.2.${(requests % addresses) + 1}`;
    const body = {
      chainId,
      [side === "asks" ? "listings" : "bids"]: orders.map((order) => ({
        seaport: wireOrder(order),
      })),
    };
    const { code, data } = await postFrom(from, `${stand.api.url}/v1/orders/${side}/bulk`, body);
    const results = data?.results ?? [{ code }];
    for (const result of results) {
      const answer = `${name}: ${result.code ?? "accepted"}`;
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  }

  const costlyOffers = () =>
    Promise.all(
      Array.from({ length: forgedAtOnce }, () =>
        signedByStranger(chainId, "bid", {
          contract: costly,
          tokenId: (maker) => (1_000_000n << 160n) | BigInt(maker),
          priceWei: dustWei,
        }),
      ),
    );
  const attacks: readonly Attack[] = [
    {
      name: "dust offers",
      async round() {
        const wallet = await newcomer(market);
        await wallet.wraps(100n * dustWei);
        await wallet.allows(100n * dustWei);
        for (let bulk = 0; bulk < 2; bulk += 1) {
          const offers: SignedOrder[] = [];
          for (let n = 0; n < offersAtOnce; n += 1) {
            const offer = { standard: "erc721", contract: collection, priceWei: dustWei } as const;
            offers.push(await wallet.offersForCollection(offer));
          }
          await submit(this.name, "bids", offers);
        }
      },
    },
    {
      name: "listings of fakes",
      async round() {
        const contract = fakes[requests % fakes.length] ?? collection;
        const wanted = { contract, tokenId: BigInt, priceWei: parseEther("1") };
        await submit(this.name, "asks", [
          await signedByStranger(chainId, "ask", wanted),
          await signedByStranger(chainId, "ask", wanted),
        ]);
      },
    },
    {
      name: "forged offers of costly ids",
      async round() {
        const orders = await costlyOffers();
        const forged = orders.map((order, n) => ({
          ...order,
          signature: orders[(n + 1) % orders.length]?.signature ?? "0x",
        }));
        await submit(this.name, "bids", forged);
      },
    },
    {
      name: "signed offers of costly ids",
      async round() {
        await submit(this.name, "bids", await costlyOffers());
      },
    },
  ];
  while (!signal.aborted) for (const attack of attacks) await attack.round();
  return answers;
}

export const fakeContracts = Array.from({ length: 12 }, (_, n) =>
  numberToHex(0x5ba600 + n, { size: 20 }),
);
