import { MarketError, type MarketEvent, market } from "order-book";
import { type Plan, postedIds, type Step, type Trader, trader } from "order-book/viem";
import { type Address, createPublicClient, createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { apeChain } from "viem/chains";

/*
 * Run in the project of a caller, in each version of Node: two tokens are listed, bought, bid for, sold into a bid,
 * listed again and cancelled, each plan interrupted once; then the sales are read by pages and by the feed.
 */

const { MARKET_URL = "", RPC_URL = "", KEYS = "", COLLECTION = "", TOKEN_IDS = "" } = process.env;
const contract = COLLECTION as Address;
const [first = 0n, second = 0n] = TOKEN_IDS.split(",").map(BigInt);
const network = { chain: apeChain, transport: http(RPC_URL) };
const publicClient = createPublicClient({ ...network, pollingInterval: 50 });
const api = market({ url: MARKET_URL, chainId: 33139 });

const [seller, buyer] = KEYS.split(",").map((key) => {
  const account = privateKeyToAccount(key as Hex);
  return trader(api, { walletClient: createWalletClient({ account, ...network }), publicClient });
});
if (seller === undefined || buyer === undefined) throw new Error("KEYS names two keys");

/** Runs a plan in two parts: the first ends after the first step that is done, and only what was stored is left. */
async function inTwoRuns(caller: Trader, plan: Plan): Promise<Plan> {
  let stored = JSON.stringify(plan);
  const onStep = ({ state }: Step, now: Plan) => {
    stored = JSON.stringify(now);
    if (state === "done") throw new Error("interrupted");
  };
  const interrupted = await caller.run(plan, { onStep }).then(
    () => false,
    ({ message }: Error) => message === "interrupted",
  );
  if (!interrupted) throw new Error(`${plan.verb} was not interrupted`);
  return caller.run(JSON.parse(stored));
}

const statuses = (plan: Plan) =>
  plan.steps.flatMap((step) => (step.kind === "sync" ? step.statuses : [])).join();

const sold: MarketEvent[] = [];
const leaving = new AbortController();
const feed = api.feed({
  collection: contract,
  types: ["sale"],
  pollMs: 100,
  signal: leaving.signal,
});
const followed = (async () => {
  for await (const event of feed)
    if (event.tokenId === `${first}` || event.tokenId === `${second}`)
      if (sold.push(event) === 2) break;
})();
while (feed.position === undefined) await new Promise((resolve) => setTimeout(resolve, 20));

const unitPriceWei = 10n ** 18n;
const items = [first, second].map((tokenId) => ({ contract, tokenId, unitPriceWei }));
const [askId = ""] = postedIds(await inTwoRuns(seller, await seller.plan.list(items)));
const bought = await inTwoRuns(buyer, await buyer.plan.buy([{ askId }]));
const offer = await buyer.plan.offer([
  { contract, tokenId: second, unitPriceWei: unitPriceWei / 2n },
]);
const [bidId = ""] = postedIds(await inTwoRuns(buyer, offer));
const accepted = await inTwoRuns(seller, await seller.plan.accept({ bidId }));
const relisted = await buyer.list([{ contract, tokenId: first, unitPriceWei }]);
const cancel = await buyer.plan.cancel({ askIds: postedIds(relisted) });
const cancelled = await inTwoRuns(buyer, cancel);
await followed;

const read: string[] = [];
for await (const { tokenId } of api.pages(
  "/v1/sales",
  { collection: contract, per_page: 2 },
  { limit: 5 },
))
  read.push(tokenId);
const refused = await api
  .get("/v1/listings/{askId}", { askId: "none" })
  .catch((error: unknown) => (error instanceof MarketError ? error.status : 0));

process.stdout.write(
  JSON.stringify({
    node: process.versions.node.split(".")[0],
    statuses: [bought, accepted, cancelled].map(statuses),
    sold: sold.map(({ tokenId }) => tokenId),
    isRead: [first, second].every((tokenId) => read.includes(`${tokenId}`)),
    refused,
  }),
);
