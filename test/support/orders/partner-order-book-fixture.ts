import type { ChainId } from "#chains/index.ts";
import type { StoredListing } from "#devnet/marketplaces/listing-store.ts";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import { openPartners } from "#jobs/partners/open-partners.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { interactive, type Timeouts } from "#jobs/partners/transport.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { appendObservations } from "#projections/log/append.ts";
import { partnerListingSeen } from "#projections/partners/partner-listing.ts";
import { type OrderBookFixture, openOrderBook } from "./order-book-fixture.ts";

type Sale = Omit<Parameters<StandIn["sell"]>[0], "chainId">;

/** An order book with stand-ins of two partners; the test does the work of the sync job. */
export type PartnerOrderBook = OrderBookFixture & {
  opensea: StandIn;
  magiceden: StandIn;
  /** The adapters to them. */
  adapters: readonly Partner[];
  /** Lists a token at a partner and appends the listing; returns its id. */
  shows(partner: StandIn, sale: Sale): Promise<{ askId: string; shown: StoredListing }>;
};

type Options = {
  moreOf?: Parameters<typeof openOrderBook>[2];
  server?: string;
  /** How the API asks the partners. The default never makes a test wait. */
  asked?: { requestsPerMinute: number; timeouts: Timeouts };
};

const unhurried = { ...interactive, timeoutMs: 1_000, waitMs: 200, attempts: 1 };

export async function openPartnerOrderBook(
  chainId: ChainId,
  { moreOf, server, asked = { requestsPerMinute: 6_000, timeouts: unhurried } }: Options = {},
): Promise<PartnerOrderBook> {
  let standIns: { opensea: StandIn; magiceden: StandIn } | undefined;
  let adapters: Partner[] = [];
  let ofApi: Partner[] = [];
  const book = await openOrderBook(
    chainId,
    async (chain) => {
      standIns = {
        opensea: await openPartnerA({ chains: [chain] }),
        magiceden: await openPartnerB({ chains: [chain] }),
      };
      const { opensea, magiceden } = standIns;
      const { streamUrl } = opensea;
      const configs = (requestsPerMinute: number) => {
        const at = ({ url }: StandIn) => ({ url, key: null, requestsPerMinute });
        return { opensea: { ...at(opensea), streamUrl }, magiceden: at(magiceden) };
      };
      adapters = openPartners(configs(6_000), unhurried);
      ofApi = openPartners(configs(asked.requestsPerMinute), asked.timeouts);
      return ofApi;
    },
    moreOf,
    server,
  );
  if (standIns === undefined) throw new Error("no partner was opened");
  const { opensea, magiceden } = standIns;
  return {
    ...book,
    opensea,
    magiceden,
    adapters,
    async shows(partner, sale) {
      const shown = await partner.sell({ chainId, ...sale });
      const adapter = adapters.find(({ name }) => name === partner.partner);
      const listing = await adapter?.fetchListing(chainId, shown.orderHash);
      if (!listing || isRejection(listing))
        throw new Error(`${partner.partner} has no such listing`);
      await appendObservations(book.db, [
        partnerListingSeen(listing, { generation: 0, seenAt: new Date() }),
      ]);
      await book.catchUp();
      const prefix = partner.partner === "opensea" ? "" : `${partner.partner}-`;
      return { askId: `${prefix}${shown.orderHash}`, shown };
    },
    async close() {
      await book.close();
      await Promise.all([...adapters, ...ofApi, opensea, magiceden].map((one) => one.close()));
    },
  };
}
