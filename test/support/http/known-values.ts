import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Known } from "./plausible-requests.ts";
import type { ServedMarket } from "./served-market.ts";

/** Values that lead to rows, by the parameters' names. */
export function knownValues({ ids, webhooks, snapshot }: ServedMarket): Known["values"] {
  const { punks, editions } = contracts;
  const wallets = [accounts.alice, accounts.bob, accounts.carol].map(({ address }) => address);
  const tokens = ["1", "2", "3", "4", "7"];
  return {
    chainId: ["1"],
    collection: [punks, editions, "punks", "EDITIONS"],
    contract: [punks, editions],
    address: [punks, editions],
    ...{ tokenId: tokens, token_id: tokens },
    ...{ maker: wallets, wallet: wallets, owner: wallets, buyer: wallets, seller: wallets },
    askId: [ids.ask, ids.partnerAsk],
    bidId: [ids.bid, ids.collectionBid],
    saleId: [ids.saleId],
    snapshotId: [snapshot.id],
    ...{ at: [snapshot.block], from: [snapshot.before], to: [snapshot.block] },
    webhookId: [webhooks.id, webhooks.spare],
    page: ["1", "2", "3"],
    search: ["punk", "Edition", "%"],
    name: ["alice.eth", "bob.eth"],
  };
}
