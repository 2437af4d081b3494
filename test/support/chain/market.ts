import type { ChainId } from "#chains/index.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { installContracts } from "#devnet/install.ts";
import { type Actors, createActors } from "#devnet/market/actors.ts";
import { seededRandom } from "#devnet/market/random.ts";
import { setUpMarket } from "#devnet/market/seed.ts";
import { type MarketContext, sendAsMined } from "#devnet/market/signer.ts";

export type Market = {
  anvil: Anvil;
  client: DevnetClient;
  actors: Actors;
  stop(): Promise<void>;
};

type MarketOptions = {
  chainId: ChainId;
  /** Whether every actor owns tokens and has approved the conduit; otherwise only contracts are installed. */
  stocked?: boolean;
} & Pick<Parameters<typeof startAnvil>[0], "port" | "timestamp" | "slotsInAnEpoch" | "stateFile">;

/** A chain of its own with the exchange and the collections; each transaction is mined at once. */
export async function openMarket(options: MarketOptions): Promise<Market> {
  const { chainId, stocked = false, ...node } = options;
  const anvil = await startAnvil({ chainId, ...node });
  try {
    const client = connect(anvil);
    await installContracts(client);
    const marketContext: MarketContext = {
      chainId,
      client,
      random: seededRandom(1),
      sending: sendAsMined(client),
    };
    const actors = createActors(marketContext);
    if (stocked) await setUpMarket(marketContext, actors);
    return { anvil, client, actors, stop: anvil.stop };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}
