import type { ChainId } from "#chains/index.ts";
import { connect } from "../client.ts";
import { control } from "./controls.ts";
import { createListingStore } from "./listing-store.ts";
import type { PartnerName } from "./make-partner-listing.ts";
import type { StandInStream } from "./opensea/stream.ts";
import { createStandIn, type StandIn, type StandInState } from "./stand-in.ts";
import { fixtureCollections } from "./stand-in-collections.ts";
import { type Answer, type StandInRequest, startStandInServer } from "./stand-in-server.ts";

export type StandInOptions = {
  /** Where real orders are made and looked at; may be none. */
  chains?: readonly { chainId: ChainId; rpcUrl: string }[];
  /** 0: any free one. */
  port?: number;
  /** Asked of every caller when given. */
  apiKey?: string;
  /** Interval of the check for fills and cancels on the chains; 0: only on request. */
  lookEveryMs?: number;
};

type Routes = (state: StandInState, request: StandInRequest) => Promise<Answer | undefined>;

/** A partner marketplace on loopback, with a handle for tests; `/_control` is the same over HTTP. */
export async function openStandIn(
  partner: PartnerName,
  routes: Routes,
  options: StandInOptions,
  openStream?: (state: StandInState, apiKey?: string) => StandInStream,
): Promise<StandIn> {
  const { chains = [], port = 0, apiKey, lookEveryMs = 0 } = options;
  const state: StandInState = {
    partner,
    book: createListingStore(),
    collections: [...fixtureCollections],
    clients: new Map(chains.map((chain) => [chain.chainId, connect(chain)])),
  };
  const stream = openStream?.(state, apiKey);
  const server = await startStandInServer({
    port,
    apiKey,
    answer: (request) => routes(state, request),
    control: (request) => control(request, handle),
    upgrade: (request, connection, running) =>
      stream === undefined ? connection.destroy() : stream.accept(request, connection, running),
  });
  state.book.listen((shown, change) => stream?.send(shown, change, server.faults.stream));
  const handle = createStandIn(state, { server, stream }, lookEveryMs);
  return handle;
}
