import { setTimeout as delay } from "node:timers/promises";
import { isAddressEqual, type LocalAccount } from "viem";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "../accounts.ts";
import { connect } from "../client.ts";
import { createActors } from "../market/actors.ts";
import { seededRandom } from "../market/random.ts";
import { drawEdition, drawPriceWei, drawPunk } from "../market/seed-tokens.ts";
import { type MarketContext, sendAsMined } from "../market/signer.ts";
import { openPartnerB } from "./magiceden/magiceden.ts";
import { openPartnerA } from "./opensea/opensea.ts";
import type { StandIn } from "./stand-in.ts";

type Chain = { chainId: ChainId; rpcUrl: string };

type PartnersOptions = {
  chains: readonly Chain[];
  ports: { opensea: number; magiceden: number };
  /** Whether people list there: some at once, one more now and then. */
  selling: boolean;
  signal: AbortSignal;
};

type Place = { port: number; url: string };
type Partners = { opensea: Place & { streamUrl: string }; magiceden: Place };

const lookEveryMs = 5_000;
const sellEveryMs = 20_000;
const openingListings = 3;
/** Of one partner and chain; beyond it the oldest is withdrawn. */
const shownAtMost = 12;

/** Both partners on loopback until the signal comes, with people who list on the local chains. */
export async function runPartners(options: PartnersOptions): Promise<Partners> {
  const { chains, ports, selling, signal } = options;
  const [opensea, magiceden] = await Promise.all([
    openPartnerA({ chains, port: ports.opensea, lookEveryMs }),
    openPartnerB({ chains, port: ports.magiceden, lookEveryMs }),
  ]);
  for (const partner of [opensea, magiceden])
    signal.addEventListener("abort", () => void partner.close());
  if (selling) {
    for (const chain of chains) void keepSelling(chain, [opensea, magiceden], signal);
  }
  return {
    opensea: { port: opensea.port, url: opensea.url, streamUrl: opensea.streamUrl },
    magiceden: { port: magiceden.port, url: `${magiceden.url}/v3/rtp` },
  };
}

async function keepSelling(
  chain: Chain,
  partners: readonly [StandIn, ...StandIn[]],
  signal: AbortSignal,
): Promise<void> {
  const { chainId } = chain;
  const client = connect(chain);
  const random = seededRandom(Date.now() ^ chainId);
  const market: MarketContext = { chainId, client, random, sending: sendAsMined(client) };
  for (const partner of partners) {
    for (let made = 0; made < openingListings && !signal.aborted; made++)
      await sellOne(market, partner, made === 0).catch(() => {});
  }
  while (!signal.aborted) {
    await delay(sellEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const partner = random.pick(partners);
    await sellOne(market, partner, random.below(4) === 0).catch(() => {});
    withdrawOldest(partner, chainId);
  }
}

/** Something that a trader owns; Magic Eden's first ones are priced in the wrapped currency, OpenSea's are editions. */
async function sellOne(market: MarketContext, partner: StandIn, isSpecial: boolean): Promise<void> {
  const actors = createActors(market);
  const isEdition = isSpecial && partner.partner === "opensea";
  const { nft, owner } = await (isEdition
    ? drawEdition(market, actors, 4n)
    : drawPunk(market, actors));
  await partner.sell({
    chainId: market.chainId,
    maker: accountOf(owner.address),
    nft,
    quantity: isEdition ? 4n : 1n,
    priceWei: drawPriceWei(market, nft.standard),
    currency: isSpecial && !isEdition ? "wrapped" : "native",
  });
}

function accountOf(address: string): LocalAccount {
  const people = Object.values(accounts).filter((account) => typeof account !== "string");
  const found = people.find((account) => isAddressEqual(account.address, address as `0x${string}`));
  if (found === undefined) throw new Error(`${address} is nobody of the local chains`);
  return found;
}

function withdrawOldest({ book, withdraw }: StandIn, chainId: ChainId): void {
  const shown = [...book.all()].filter(
    (listing) => listing.chainId === chainId && listing.status === "active",
  );
  for (const { orderHash } of shown.slice(0, -shownAtMost)) withdraw(chainId, orderHash);
}
